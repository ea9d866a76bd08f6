import { CHECK_ROUTES } from './check-routes.ts'
import { OPERATOR_ROUTES } from './operator-routes.ts'
import { RESERVATION_ROUTES } from './reservation-routes.ts'
import type { Route } from './route.ts'

/** The HTTP API. `/openapi.json` is made from this table. */
export const API: readonly Route[] = [...CHECK_ROUTES, ...RESERVATION_ROUTES, ...OPERATOR_ROUTES]

import type { ApiRoute } from './route.ts'
import { CHECK_ROUTES } from './routes/check-routes.ts'
import { OPERATOR_ROUTES } from './routes/operator-routes.ts'
import { RESERVATION_ROUTES } from './routes/reservation-routes.ts'

/** The HTTP API. `/openapi.json` is made from this table. */
export const API: readonly ApiRoute[] = [...CHECK_ROUTES, ...RESERVATION_ROUTES, ...OPERATOR_ROUTES]

import * as bucket from '../algorithms/bucket.ts'
import * as slots from '../algorithms/concurrency.ts'
import * as fixed from '../algorithms/fixed-window.ts'
import * as log from '../algorithms/sliding-log.ts'
import * as sliding from '../algorithms/sliding-window.ts'

/** The arithmetic of every algorithm, by the `kind` of its rule, for authors of stores. */
export const kernels = { bucket, fixed, sliding, log, slots }

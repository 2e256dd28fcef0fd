/** Which operations a caller may ask for at all on this server, whatever object they name. */
import type { Caller } from '../../protocol/caller.js'
import type { RouteContract } from '../../protocol/route.js'

interface AskedOperation {
  readonly method: string
  readonly scope: string | undefined
}

/** Throws what refuses it. `contract` undefined: a plugin contributes it. */
export type OperationCheck = (contract: Pick<RouteContract, 'id' | 'access'> | undefined, caller: Caller, asked: AskedOperation) => void

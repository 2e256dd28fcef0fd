/** What stands for a caller besides the token of the operator. Made by `src/actors/tenancy`, asked by the doors of HTTP. */
import type { Caller } from '../protocol/caller.js'

export interface CredentialSource {
  /** Undefined = this source gives out no such credential, for whatever reason; how long that takes says nothing of the ones it has. */
  callerOf(secret: string): Caller | undefined | Promise<Caller | undefined>
  /** Whether the credential that made this caller is still good; undefined where it is of another source. */
  stands(caller: Caller): boolean | undefined
}

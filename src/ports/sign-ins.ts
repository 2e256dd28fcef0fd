/** What clients may do to sign in at providers (subsystems c.7, c.8). */
import type { Caller } from '../protocol/caller.js'
import type {
  OpenAiUsage,
  ProviderAuthAuthorization,
  ProviderAuthMethods,
  ProviderAuthorizeRequest,
  ProviderCallbackRequest,
} from '../protocol/provider/sign-in.js'

export interface SignIns {
  /** Ways to connect each provider this installation knows, best first, and those that plugins bring to a directory. */
  methods(directory: string): Promise<ProviderAuthMethods>
  /** Begins a sign-in; null when the method only needs a key. Throws `request.invalid`, `resource.not_found`, `request.unprocessable`. */
  authorize(
    caller: Caller,
    providerId: string,
    workspaceId: string | undefined,
    request: ProviderAuthorizeRequest,
  ): Promise<ProviderAuthAuthorization | null>
  /** True once the credential is stored; a client that leaves cancels the sign-in. Throws `request.invalid`, `request.unprocessable`. */
  callback(
    caller: Caller,
    providerId: string,
    workspaceId: string | undefined,
    request: ProviderCallbackRequest,
    signal: AbortSignal,
  ): Promise<boolean>
  usage(workspaceId: string | undefined): Promise<OpenAiUsage>
}

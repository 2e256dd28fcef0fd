/** What the failure of a request says about its connection. */
import type { Library } from './session.js'

export type Trouble = 'session' | 'authorization' | 'connection' | 'none'

/** `session`: the server has forgotten it; `authorization`: nobody is signed in, or not for this. */
export function troubleOf(library: Library, error: unknown, hadSession: boolean): Trouble {
  const { SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError, InsufficientScopeError } = library
  if (UnauthorizedError.isInstance(error) || error instanceof InsufficientScopeError) return 'authorization'
  if (error instanceof SdkHttpError) {
    if (error.status === 401 || error.status === 403) return 'authorization'
    return error.status === 404 && hadSession ? 'session' : 'none'
  }
  if (error instanceof SdkError && (error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.NotConnected))
    return 'connection'
  return 'none'
}

/** A server that is started anew is waited for: the editor sees a pause. */
import { ATTEMPTS, patiently } from '../../../published/client/patience.js'
import { PLATFORM } from '../../../published/client/platform.js'

/** For what may be asked again. */
export async function patient<T>(ask: () => Promise<T>): Promise<T> {
  const { value } = await patiently({ platform: PLATFORM, attempts: ATTEMPTS, signal: new AbortController().signal }, ask)
  return value
}

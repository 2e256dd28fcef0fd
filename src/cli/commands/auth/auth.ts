/** `svc auth`: each action is loaded when it is asked for. */
import type { AuthOptions } from './auth-arguments.js'

/** Runs one action; answers the exit code: 0 done, 1 refused, 130 interrupted. */
export async function auth(options: AuthOptions): Promise<number> {
  switch (options.action) {
    case 'list':
      return (await import('./auth-list.js')).listAuth(options)
    case 'login':
      return (await import('./auth-login.js')).login(options)
    case 'set':
      return (await import('./auth-keys.js')).setKey(options)
    case 'remove':
      return (await import('./auth-keys.js')).removeKey(options)
  }
}

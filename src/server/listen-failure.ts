/** Why the socket could not be opened, and what to do about it. */
import { SvcError } from '../protocol/errors.js'
import type { ServeOptions } from './serve-options.js'

/** The failure of a listen call as a message for a person; other errors come back as they are. */
export function listenFailure(error: unknown, { hostname, port }: Pick<ServeOptions, 'hostname' | 'port'>): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const told = { cause: error }
  switch (code) {
    case 'EADDRINUSE':
      return new SvcError(
        'resource.conflict',
        `port ${port} of ${hostname} is in use, perhaps by another svc; choose another with --port, or any free one with --port 0`,
        { hostname, port },
        told,
      )
    case 'EACCES':
      return new SvcError(
        'request.forbidden',
        `this user may not listen on port ${port}; choose one above 1023 with --port`,
        { port },
        told,
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new SvcError('config.invalid', `${hostname} is not an address of this machine; choose one with --hostname`, { hostname }, told)
    default:
      return error
  }
}

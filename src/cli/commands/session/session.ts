/** `svc session`: each action is loaded when it is asked for. */
import { connect } from '../../connection.js'
import type { SessionOptions } from './session-arguments.js'

/** Runs one action; answers the exit code: 0 done, 1 declined. */
export async function session(options: SessionOptions): Promise<number> {
  const connection = await connect(options.server)
  try {
    const { client } = connection
    switch (options.action) {
      case 'list':
        return await (await import('./session-list.js')).listSessions(client, options)
      case 'show':
        return await (await import('./session-show.js')).showSession(client, options)
      case 'rename':
        return await (await import('./session-rename.js')).renameSession(client, options)
      case 'fork':
        return await (await import('./session-fork.js')).forkSession(client, options)
      case 'release':
        return await (await import('./session-release.js')).releasePrompts(connection, options)
      case 'undo':
      case 'redo':
        return await (await import('./session-undo.js')).undoTurns(client, options.action, options)
      case 'export':
        return await (await import('./session-bundles.js')).exportSessions(connection, options)
      case 'import':
        return await (await import('./session-bundles.js')).importSessions(client, options)
      case 'delete':
        return await (await import('./session-delete.js')).deleteSession(client, options)
    }
  } finally {
    await connection.close()
  }
}

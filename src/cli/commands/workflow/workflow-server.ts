/** The running server that `svc workflow` talks to. */
import { SvcError } from '../../../protocol/errors.js'
import type { Client } from '../../../published/client/client-types.js'
import { type Connection, connectTo } from '../../connection.js'
import { existingDirectory } from '../../directory.js'
import { localServer } from '../plugin/plugin-server.js'
import type { OnServer } from './workflow-arguments.js'

export interface WorkflowServer extends Pick<Connection, 'open'> {
  readonly client: Client
  /** Of the workspace; canonical. */
  readonly directory: string
}

/** Throws when no server runs: workflows run in a server that goes on, never in one made for a moment. */
export async function workflowServer({ server, directory }: OnServer): Promise<WorkflowServer> {
  const url = server ?? localServer()
  if (url === undefined) throw new SvcError('server.starting', 'no server runs; start one with "svc serve", or name one with --server')
  const { client, open } = connectTo(url)
  return { client, open, directory: existingDirectory(directory) }
}

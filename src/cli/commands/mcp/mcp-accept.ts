/** `svc mcp accept` and `svc mcp revoke`: servers that a workspace brings (choice 34). */
import { connect } from '../../connection.js'
import { existingDirectory } from '../../directory.js'
import { actOn } from '../acceptance/acts.js'
import type { McpActOptions } from './mcp-options.js'

/** Answers 0, or 1 when there was nothing to take back. */
export async function actOnMcp({ action, name, directory, server, json }: McpActOptions): Promise<number> {
  const connection = await connect(server)
  const { mcp } = connection.client.plugins
  const query = { directory: existingDirectory(directory), name }
  try {
    return await actOn(action, json, {
      standing: async () => (await mcp.catalog({ directory: query.directory }))[name]?.acceptance,
      accept: (body) => mcp.accept({ ...query, ...body }),
      takeBack: () => mcp.takeBack(query),
      said: (place) => `may be used in ${place}, as it stands there now`,
    })
  } finally {
    await connection.close()
  }
}

/** `svc mcp accept` and `svc mcp revoke`: servers that a workspace brings (decision 34). */
import { lineText } from '../../../machines/acceptance/standing.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { connect } from '../../connection.js'
import { existingDirectory } from '../../directory.js'
import { jsonText, writeOut } from '../../terminal/output.js'
import type { McpActOptions } from './mcp-options.js'

/** Accepts what it has just read, and nothing else. Answers 0, or 1 when there was nothing to take back. */
export async function actOnMcp({ action, name, directory, server, json }: McpActOptions): Promise<number> {
  const connection = await connect(server)
  const { mcp } = connection.client.plugins
  const query = { directory: existingDirectory(directory), name }
  const tell = (value: unknown, text: string) => writeOut(json ? `${jsonText(value, 2)}\n` : text)
  try {
    if (action === 'revoke') {
      const answer = await mcp.takeBack(query)
      tell(answer, answer.removed ? 'taken back\n' : 'nothing was accepted\n')
      return answer.removed ? 0 : 1
    }
    const { [name]: entry } = await mcp.catalog({ directory: query.directory })
    const accepted = await mcp.accept({ ...query, ...(entry?.acceptance != null && { body: { revision: entry.acceptance.revision } }) })
    const told = [...accepted.commands.map(lineText), ...(entry?.acceptance?.also ?? [])]
    const lines = told.map((line) => `  ${printable(line)}\n`).join('')
    tell(accepted, `may be used in ${printable(accepted.directory)}, as it stands there now:\n${lines}`)
    return 0
  } finally {
    await connection.close()
  }
}

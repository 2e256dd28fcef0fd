/** `svc lsp`: language servers of a workspace, and the acts that let them load code of it (decision 34). */
import { lineText } from '../../../machines/acceptance/standing.js'
import type { LspStatus } from '../../../protocol/lsp/lsp.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { connect } from '../../connection.js'
import { existingDirectory } from '../../directory.js'
import { jsonText, writeOut } from '../../terminal/output.js'
import { columns } from '../plugin/plugin-words.js'
import type { LspOptions } from './lsp-arguments.js'

/** Answers 0, or 1 when there was nothing to take back. Throws `SvcError` for a server there is not. */
export async function lsp(options: LspOptions): Promise<number> {
  const connection = await connect(options.server)
  const { plugins } = connection.client
  const query = { directory: existingDirectory(options.directory) }
  const tell = (value: unknown, text: string) => writeOut(options.json ? `${jsonText(value, 2)}\n` : text)
  try {
    switch (options.action) {
      case 'list': {
        const rows = await plugins.lsp.status(query)
        const text = columns([['ID', 'STATUS', 'COMMAND', 'WHY'], ...rows.map(rowOf)])
        tell(rows, rows.length === 0 ? 'no language server fits the files here\n' : text)
        return 0
      }
      case 'accept': {
        const accepted = await plugins.lsp.accept({ ...query, server: options.id })
        const lines = accepted.commands.map((words) => `  ${printable(lineText(words))}\n`).join('')
        tell(accepted, `may start in ${printable(accepted.directory)}, and load code from there:\n${lines}`)
        return 0
      }
      case 'revoke': {
        const answer = await plugins.lsp.takeBack({ ...query, server: options.id })
        tell(answer, answer.removed ? 'taken back\n' : 'nothing was accepted\n')
        return answer.removed ? 0 : 1
      }
    }
  } finally {
    await connection.close()
  }
}

function rowOf({ id, status, command, acceptance, detected: { message } }: LspStatus): string[] {
  const state = acceptance?.state === 'waiting' ? 'waits' : status
  return [id, state, lineText(command), acceptance?.state === 'waiting' ? `svc lsp accept ${id}` : (message ?? '')].map(printable)
}

/** `svc lsp`: language servers of a workspace, and the acts that let them load code of it (choice 34). */
import { lineText } from '../../../machines/acceptance/standing.js'
import type { LspStatus } from '../../../protocol/lsp/lsp.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { connect } from '../../connection.js'
import { existingDirectory } from '../../directory.js'
import { actOn, teller } from '../acceptance/acts.js'
import type { ProgramOptions } from '../acceptance/program-arguments.js'
import { columns } from '../plugin/plugin-words.js'

/** Answers 0, or 1 when there was nothing to take back. Throws `SvcError` for a server there is not. */
export async function lsp(options: ProgramOptions): Promise<number> {
  const connection = await connect(options.server)
  const { lsp: servers } = connection.client.plugins
  const query = { directory: existingDirectory(options.directory) }
  try {
    if (options.action === 'list') {
      const rows = await servers.status(query)
      const text = columns([['ID', 'STATUS', 'COMMAND', 'WHY'], ...rows.map(rowOf)])
      teller(options.json)(rows, rows.length === 0 ? 'no language server fits the files here\n' : text)
      return 0
    }
    const { action, id, json } = options
    const one = { ...query, server: id }
    return await actOn(action, json, {
      standing: async () => (await servers.status(query)).find((row) => row.id === id)?.acceptance,
      accept: (body) => servers.accept({ ...one, ...body }),
      takeBack: () => servers.takeBack(one),
      said: (directory) => `may start in ${directory}, and load code from there`,
    })
  } finally {
    await connection.close()
  }
}

function rowOf({ id, status, command, acceptance, detected: { message } }: LspStatus): string[] {
  const state = acceptance?.state === 'waiting' ? 'waits' : status
  return [id, state, lineText(command), acceptance?.state === 'waiting' ? `svc lsp accept ${id}` : (message ?? '')].map(printable)
}

/** `svc formatter`: formatters that are switched on, and the acts that let one run code of a workspace (choice 34). */
import { lineText } from '../../../machines/acceptance/standing.js'
import type { FormatterStatus } from '../../../protocol/format/formatter-routes.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { connect } from '../../connection.js'
import { existingDirectory } from '../../directory.js'
import { actOn, teller } from '../acceptance/acts.js'
import type { ProgramOptions } from '../acceptance/program-arguments.js'
import { columns } from '../plugin/plugin-words.js'

const NONE = 'no formatter is switched on; "formatter": true in the configuration of the installation does (docs/formatters.md)\n'

/** Answers 0, or 1 when there was nothing to take back. Throws `SvcError` for a formatter there is not. */
export async function formatter(options: ProgramOptions): Promise<number> {
  const connection = await connect(options.server)
  const { files } = connection.client.plugins
  const query = { directory: existingDirectory(options.directory) }
  try {
    if (options.action === 'list') {
      const rows = await files.formatters(query)
      const text = columns([['ID', 'STATE', 'COMMAND', 'WHY'], ...rows.map(rowOf)])
      teller(options.json)(rows, rows.length === 0 ? NONE : text)
      return 0
    }
    const { action, id, json } = options
    const one = { ...query, formatter: id }
    return await actOn(action, json, {
      standing: async () => (await files.formatters(query)).find((row) => row.id === id)?.acceptance,
      accept: (body) => files.formatters.accept({ ...one, ...body }),
      takeBack: () => files.formatters.takeBack(one),
      said: (directory) => `may run code of ${directory} after changes there`,
    })
  } finally {
    await connection.close()
  }
}

/** Whether it runs on a file at the top of the directory. Pure. */
export function rowOf({ id, command, wanted, problem, acceptance }: FormatterStatus): string[] {
  const row = (state: string, why: string) => [id, state, lineText(command), why].map(printable)
  if (acceptance === null) return row('wrong', problem ?? '')
  if (!wanted) return row('not wanted', 'nothing here asks for it')
  if (acceptance.state === 'waiting') return row('waits', `${problem ?? ''}; svc formatter accept ${id}`)
  return row(acceptance.state, acceptance.message ?? problem ?? '')
}

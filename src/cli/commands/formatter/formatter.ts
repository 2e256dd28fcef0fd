/** `svc formatter`: formatters that are switched on, and the acts that let one run code of a workspace (decision 34). */
import { lineText } from '../../../machines/acceptance/standing.js'
import type { FormatterStatus } from '../../../protocol/format/formatter-routes.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { connect } from '../../connection.js'
import { existingDirectory } from '../../directory.js'
import { jsonText, writeOut } from '../../terminal/output.js'
import { columns } from '../plugin/plugin-words.js'
import type { FormatterOptions } from './formatter-arguments.js'

const NONE = 'no formatter is switched on; "formatter": true in the configuration of the installation does (docs/formatters.md)\n'

/** Accepts what it has just read, and nothing else. Answers 0, or 1 when there was nothing to take back. Throws `SvcError` for a formatter there is not. */
export async function formatter(options: FormatterOptions): Promise<number> {
  const connection = await connect(options.server)
  const { files } = connection.client.plugins
  const query = { directory: existingDirectory(options.directory) }
  const tell = (value: unknown, text: string) => writeOut(options.json ? `${jsonText(value, 2)}\n` : text)
  try {
    const rows = options.action === 'revoke' ? [] : await files.formatters(query)
    switch (options.action) {
      case 'list': {
        tell(rows, rows.length === 0 ? NONE : columns([['ID', 'STATE', 'COMMAND', 'WHY'], ...rows.map(rowOf)]))
        return 0
      }
      case 'accept': {
        const revision = rows.find(({ id }) => id === options.id)?.acceptance?.revision
        const accepted = await files.formatters.accept({
          ...query,
          formatter: options.id,
          ...(revision !== undefined && { body: { revision } }),
        })
        const lines = accepted.commands.map((words) => `  ${printable(lineText(words))}\n`).join('')
        tell(accepted, `may run code of ${printable(accepted.directory)} after changes there:\n${lines}`)
        return 0
      }
      case 'revoke': {
        const answer = await files.formatters.takeBack({ ...query, formatter: options.id })
        tell(answer, answer.removed ? 'taken back\n' : 'nothing was accepted\n')
        return answer.removed ? 0 : 1
      }
    }
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

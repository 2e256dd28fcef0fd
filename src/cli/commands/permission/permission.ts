/** `svc permission`: what was allowed for good, in one place (choice 40). */
import type { Client } from '../../../published/client/client-types.js'
import { SvcError } from '../../../protocol/errors.js'
import type { RememberedAnswer } from '../../../protocol/interaction/interaction.js'
import { escapedText, printable } from '../../../protocol/text/visible-text.js'
import { connect } from '../../connection.js'
import { directoryOn } from '../../directory.js'
import { jsonText, writeOut } from '../../terminal/output.js'
import { columns } from '../plugin/plugin-words.js'
import { localTime } from '../session/session-record.js'
import { explanationText } from './explanation-text.js'
import type { ExplainOptions, PermissionOptions, RevokeOptions } from './permission-arguments.js'

/** Runs one action; answers 0. */
export async function permission(options: PermissionOptions): Promise<number> {
  const connection = await connect(options.server)
  try {
    const { client } = connection
    const directory = directoryOn(options.server, options.directory)
    if (options.action === 'explain') return await explain(client, directory, options)
    const answers = await client.interactions.remembered.list({ directory })
    if (options.action === 'revoke') return await revoke(client, directory, answers, options)
    if (options.json) writeOut(`${jsonText(answers, 2)}\n`)
    else writeOut(answers.length === 0 ? `nothing is remembered for ${printable(directory)}\n` : listText(answers))
    return 0
  } finally {
    await connection.close()
  }
}

const SHORT = 'ans_'.length + 8

function listText(answers: readonly RememberedAnswer[]): string {
  const rows = answers.map(({ id, permission: kind, pattern, exact, remembered, by = '-', sessionId = '-' }) => [
    id.slice(0, SHORT),
    `${kind}: ${pattern}${exact === true ? '' : ' (and what matches)'}`,
    remembered === undefined ? '-' : localTime(new Date(remembered).toISOString()),
    by,
    sessionId,
  ])
  const places = [...new Set(answers.map(({ place }) => place))]
  return `${columns([['ID', 'ALLOWS', 'GIVEN', 'BY', 'IN'], ...rows.map((row) => row.map(escapedText))])}for ${places.map(printable).join(', ')}\n`
}

async function explain(client: Client, directory: string, { text, kind, agent, session, json }: ExplainOptions): Promise<number> {
  const asked = kind === undefined ? { command: text } : { permission: kind, pattern: text }
  const explanation = await client.interactions.explain({
    ...asked,
    ...(session === undefined ? { directory } : { sessionId: session }),
    ...(agent !== undefined && { agent }),
  })
  writeOut(json ? `${jsonText(explanation, 2)}\n` : explanationText(text, explanation))
  return 0
}

async function revoke(client: Client, directory: string, answers: readonly RememberedAnswer[], options: RevokeOptions): Promise<number> {
  const { named, json } = options
  const meant = named === undefined ? answers : meantBy(named, answers)
  for (const { id } of meant) await client.interactions.remembered.forget({ directory, answerId: id })
  if (json) writeOut(`${jsonText(meant, 2)}\n`)
  else if (meant.length === 0) writeOut('nothing is remembered\n')
  else writeOut(meant.map((each) => `taken back: ${escapedText(`${each.permission}: ${each.pattern}`)}\n`).join(''))
  return 0
}

/** By id, by how one alone begins, or every one of a pattern. */
function meantBy(named: string, answers: readonly RememberedAnswer[]): readonly RememberedAnswer[] {
  const begun = named.startsWith('ans_') ? answers.filter(({ id }) => id.startsWith(named)) : []
  if (begun.length > 1) throw new SvcError('resource.conflict', `${named} may be one of ${begun.length} answers; write more of it.`)
  const found =
    begun.length === 1 ? begun : answers.filter(({ pattern, permission: kind }) => [pattern, `${kind}: ${pattern}`].includes(named))
  if (found.length === 0) throw new SvcError('resource.not_found', `No answer "${named}" is remembered here; svc permissions lists them.`)
  return found
}

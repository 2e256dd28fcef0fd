/** The acts that let a program load code of a workspace, and take that back: the same for language servers, formatters and MCP servers (choice 34). */
import { lineText } from '../../../machines/acceptance/standing.js'
import type { ProgramAcceptance, ProgramStanding } from '../../../protocol/acceptance/acceptance.js'
import { escapedText, printable } from '../../../protocol/text/visible-text.js'
import { jsonText, writeOut } from '../../terminal/output.js'

export interface Acts {
  /** What would be accepted, as it is told now; undefined where nobody knows the program. */
  standing(): Promise<ProgramStanding | null | undefined>
  accept(body: { readonly body?: { readonly revision: string } }): Promise<ProgramAcceptance>
  takeBack(): Promise<{ readonly removed: boolean }>
  /** What was allowed in a directory, as the beginning of a line. */
  said(directory: string): string
}

/** For people, or as JSON. */
export function teller(json: boolean): (value: unknown, text: string) => void {
  return (value, text) => writeOut(json ? `${jsonText(value, 2)}\n` : text)
}

/** Accepts what it has just read, and nothing else. Answers 0, or 1 when there was nothing to take back. Throws `SvcError` for a program there is not. */
export async function actOn(action: 'accept' | 'revoke', json: boolean, acts: Acts): Promise<number> {
  const tell = teller(json)
  if (action === 'revoke') {
    const answer = await acts.takeBack()
    tell(answer, answer.removed ? 'taken back\n' : 'nothing was accepted\n')
    return answer.removed ? 0 : 1
  }
  const standing = await acts.standing()
  const accepted = await acts.accept(standing == null ? {} : { body: { revision: standing.revision } })
  const lines = [...accepted.commands.map(lineText), ...(standing?.also ?? [])].map((line) => `  ${escapedText(line)}\n`)
  tell(accepted, `${acts.said(printable(accepted.directory))}:\n${lines.join('')}`)
  return 0
}

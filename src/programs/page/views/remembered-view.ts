/** Answers that are remembered for a workspace, with where they come from and the way to take them back; and what would be decided there. */
import type { Explanation } from '../../../protocol/interaction/explanation.js'
import type { RememberedAnswer } from '../../../protocol/interaction/interaction.js'
import type { Connection } from '../connection.js'
import { button, h } from '../elements.js'
import { shownLine } from '../shown-text.js'
import { explanationLines, originWords } from './request-words.js'
import { sessionLink, type SessionWays } from './requests-view.js'
import type { OnAct } from './workflows-view.js'

const REMEMBERED = '/v2/interactions/remembered'

function inPlace(directory: string): string {
  return directory === '' ? '' : `directory=${encodeURIComponent(directory)}`
}

/** Rows, the latest answer first; throws an `Error` with the reason when there are none to be had. */
export async function rememberedRows(connection: Connection, directory: string, ways: SessionWays, on: OnAct): Promise<HTMLElement[]> {
  const query = inPlace(directory)
  const answers = JSON.parse(await connection.text(`${REMEMBERED}?${query}`)) as RememberedAnswer[]
  return answers.toReversed().map((answer) => {
    const { id, permission, pattern, exact, place, sessionId } = answer
    const forget = () => {
      connection.remove(`${REMEMBERED}/${encodeURIComponent(id)}?${query}`).then(on.changed, on.failed)
    }
    return h(
      'tr',
      { 'data-answer': id },
      h('td', {}, `${shownLine(permission)}: `, h('code', {}, shownLine(pattern)), exact === true && h('small', {}, 'this very one')),
      h('td', { class: 'path' }, shownLine(place)),
      h('td', {}, h('p', {}, originWords(answer)), sessionId !== undefined && sessionLink(sessionId, undefined, ways)),
      h('td', {}, button('Take back', 'From now on it is asked again, also in sessions that are under way', forget)),
    )
  })
}

/** What would be decided of a command line, and by what; throws an `Error` with the reason when that cannot be told. */
export async function explanation(connection: Connection, directory: string, command: string): Promise<HTMLElement[]> {
  const query = [`command=${encodeURIComponent(command)}`, inPlace(directory)].filter(Boolean).join('&')
  const explained = JSON.parse(await connection.text(`/v2/interactions/explain?${query}`)) as Explanation
  const [head, ...lines] = explanationLines(command, explained)
  return [h('p', {}, h('b', {}, head)), ...lines.map((line) => h('p', {}, line))]
}

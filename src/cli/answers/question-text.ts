/** Questions of the agent as terminal text, and what was typed as answers (sessions-events §9). */
import { printable } from '../../protocol/text/visible-text.js'
import { fieldOf, listOf, textOf } from '../terminal/fields.js'

export interface TerminalQuestion {
  /** What to show, ending where the answer is typed. */
  readonly text: string
  readonly labels: readonly string[]
  readonly multiple: boolean
}

/** One entry per question, in order; a question of unknown shape is shown as its JSON. */
export function readQuestions(questions: readonly unknown[]): TerminalQuestion[] {
  return questions.map((value) => {
    const question = textOf(value, 'question')
    const options = (listOf(value, 'options') ?? []).map((option) => ({
      label: textOf(option, 'label'),
      description: textOf(option, 'description'),
    }))
    const labels = options.flatMap(({ label }) => label ?? [])
    if (question === undefined || labels.length < options.length)
      return { text: `${printable(JSON.stringify(value))}\n> `, labels: [], multiple: false }
    const multiple = fieldOf(value, 'multiple') === true
    const lines = options.map(
      ({ label = '', description = '' }, index) =>
        `  ${index + 1}. ${printable(label)}${description === '' ? '' : ` - ${printable(description)}`}`,
    )
    const hint = options.length === 0 ? '' : multiple ? ' (numbers, with commas)' : ' (a number, or your own words)'
    return { text: [printable(question) + hint, ...lines, '> '].join('\n'), labels, multiple }
  })
}

/** Numbers become the labels they stand for; other text is the answer itself; nothing typed is no answer. */
export function readAnswer(question: TerminalQuestion, typed: string): string[] {
  const pieces = question.multiple ? typed.split(',') : [typed]
  return pieces
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '')
    .map((piece) => (/^\d+$/.test(piece) ? (question.labels[Number(piece) - 1] ?? piece) : piece))
}

/** A terminal that writes down what it is told. */
import type { Line } from '../../../../src/cli/terminal/span.js'
import type { Terminal } from '../../../../src/cli/terminal/terminal.js'

export interface FakeTerminal extends Terminal {
  /** `note …`, `text …`, in order; a moving line only where it changes. */
  readonly said: readonly string[]
}

export function fakeTerminal(given: Partial<Terminal> = {}): FakeTerminal {
  const said: string[] = []
  const say = (kind: string) => (text: string) => void said.push(`${kind} ${text}`)
  const lines = (kind: string) => (all: readonly Line[]) =>
    void said.push(...all.map((line) => `${kind} ${line.map(({ text }) => text).join('')}`.trimEnd()))
  return {
    said,
    isLive: false,
    isRich: false,
    width: () => 60,
    text: say('text'),
    answer: lines('answer'),
    break: () => void said.push('break'),
    note: say('note'),
    interrupted: () => void said.push('interrupted'),
    lines: lines('line'),
    status: (line) => {
      const text =
        line === undefined
          ? 'rest'
          : `status ${line
              .slice(1)
              .map((each) => each.text)
              .join('')}`
      if (said.findLast((each) => each === 'rest' || each.startsWith('status ')) !== text) said.push(text)
    },
    error: say('error'),
    record: say('record'),
    ask: undefined,
    ...given,
  }
}

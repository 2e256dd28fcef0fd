/** What git says of how far a clone is, between its other lines. Pure. */

export interface CloneProgress {
  /** In git's words: `Receiving objects`, `Resolving deltas`, `Updating files`. */
  readonly phase: string
  /** 0 to 100. */
  readonly percent: number
  /** Received so far, where git tells. */
  readonly bytes?: number
}

const STEP = /^(?:remote: )?([A-Z][a-z]+ [a-z]+): +(\d{1,3})% \(\d+\/\d+\)(?:, ([\d.]+) (bytes|KiB|MiB|GiB))?/
const COUNTED = /^(?:remote: )?(?:Enumerating|Counting|Compressing|Total|Receiving|Resolving|Unpacking|Updating|Cloning into|Filtering)\b/
const UNIT = { bytes: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const
const LONGEST = 4096

/** Reads standard error as it comes: steps go to `onStep`, everything else to `onText`, which are the lines that explain a failure. */
export function createProgressReader(onStep: (step: CloneProgress) => void, onText: (text: string) => void) {
  let rest = ''
  const take = (line: string) => {
    const [, phase, percent = '', amount, unit] = STEP.exec(line) ?? []
    if (phase === undefined) {
      if (!COUNTED.test(line) && line.trim() !== '') onText(`${line}\n`)
      return
    }
    const bytes = amount === undefined ? undefined : Math.round(Number(amount) * UNIT[unit as keyof typeof UNIT])
    onStep({ phase, percent: Math.min(100, Number(percent)), ...(bytes === undefined ? {} : { bytes }) })
  }
  return {
    push(text: string): void {
      const lines = (rest + text).split(/[\r\n]/)
      rest = (lines.pop() ?? '').slice(-LONGEST)
      for (const line of lines) take(line)
    },
    end(): void {
      take(rest)
      rest = ''
    },
  }
}

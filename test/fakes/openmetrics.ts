/** A strict reader of the text form of OpenMetrics 1.0: whatever the specification forbids is thrown, with the line. */

interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Family {
  readonly type: string
  readonly help: string | undefined
  readonly samples: Sample[]
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const SAMPLE =
  /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\n"])*"(?:,(?=[a-zA-Z_]))?)*)\})? (\+Inf|-Inf|NaN|[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)$/
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"/g
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: ['_total', '_created'],
  gauge: [''],
  histogram: ['_bucket', '_count', '_sum', '_created'],
  info: ['_info'],
}

export function readOpenMetrics(text: string): Map<string, Family> {
  if (!text.endsWith('# EOF\n')) throw new Error('it does not end with "# EOF" and a line feed')
  const families = new Map<string, Family>()
  let current: { name: string; type?: string; help?: string; samples: Sample[] } | undefined
  const close = () => {
    if (current === undefined) return
    const { name, type = 'unknown', help, samples } = current
    if (families.has(name)) throw new Error(`the family ${name} stands twice, or in pieces`)
    const family = { type, help, samples }
    checkFamily(name, family)
    families.set(name, family)
  }
  for (const line of text.slice(0, -'# EOF\n'.length).split('\n').slice(0, -1)) {
    const meta = /^# (HELP|TYPE|UNIT) (\S+) (.*)$/.exec(line)
    if (meta !== null) {
      const [, kind, name = '', rest = ''] = meta
      if (!NAME.test(name)) throw new Error(`no name: ${line}`)
      if (current?.name !== name) {
        close()
        current = { name, samples: [] }
      }
      if (current.samples.length > 0) throw new Error(`what is said of a family stands after a sample of it: ${line}`)
      if (kind === 'TYPE') {
        if (current.type !== undefined || SUFFIXES[rest] === undefined) throw new Error(`a type twice, or none of ours: ${line}`)
        current.type = rest
      }
      if (kind === 'HELP') {
        if (current.help !== undefined || /(?<!\\)(?:\\\\)*\\[^\\n"]/.test(rest)) throw new Error(`help twice, or escaped wrongly: ${line}`)
        current.help = rest
      }
      if (kind === 'UNIT' && !name.endsWith(`_${rest}`)) throw new Error(`a unit that the name does not end with: ${line}`)
      continue
    }
    const sample = sampleOf(line)
    if (current === undefined || !isOf(current.name, current.type, sample.name)) throw new Error(`a sample of no family: ${line}`)
    current.samples.push(sample)
  }
  close()
  return families
}

function isOf(family: string, type = 'unknown', name: string): boolean {
  return (SUFFIXES[type] ?? ['']).some((suffix) => name === `${family}${suffix}`)
}

function sampleOf(line: string): Sample {
  const [whole, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? []
  if (whole === undefined) throw new Error(`no sample: ${JSON.stringify(line)}`)
  const read: Record<string, string> = {}
  for (const [, label = '', text = ''] of labels.matchAll(LABEL)) {
    if (Object.hasOwn(read, label)) throw new Error(`a label twice: ${line}`)
    read[label] = text.replaceAll(/\\([\\n"])/g, (_, sign: string) => (sign === 'n' ? '\n' : sign))
  }
  return { name, labels: read, value: value === '+Inf' ? Infinity : value === '-Inf' ? -Infinity : Number(value) }
}

function checkFamily(name: string, { type, samples }: Family): void {
  const keys = samples.map((sample) => `${sample.name} ${keyOf(sample.labels)}`)
  if (new Set(keys).size < keys.length) throw new Error(`${name} has a sample twice`)
  if (type === 'counter' && name.endsWith('_total')) throw new Error(`the family of the counter ${name} ends with _total`)
  if (type === 'counter' && samples.some(({ value }) => !(value >= 0))) throw new Error(`the counter ${name} is below zero`)
  if (type === 'histogram') checkHistogram(name, samples)
}

function checkHistogram(name: string, samples: readonly Sample[]): void {
  const series = grouped(samples)
  for (const [labels, all] of series) {
    const buckets = all.filter((sample) => sample.name === `${name}_bucket`)
    const bounds = buckets.map(({ labels: { le = '' } }) => (le === '+Inf' ? Infinity : Number(le)))
    if (bounds.at(-1) !== Infinity) throw new Error(`${name}${labels} has no bucket +Inf at its end`)
    for (const [index, { value }] of buckets.entries()) {
      const before = buckets[index - 1]
      if (before !== undefined && (value < before.value || !((bounds[index - 1] ?? NaN) < (bounds[index] ?? NaN))))
        throw new Error(`the buckets of ${name}${labels} do not grow`)
    }
    const count = all.find((sample) => sample.name === `${name}_count`)
    if (count === undefined || count.value !== buckets.at(-1)?.value) throw new Error(`${name}${labels} counts other than its buckets`)
    if (!all.some((sample) => sample.name === `${name}_sum`)) throw new Error(`${name}${labels} has no sum`)
  }
}

function grouped(samples: readonly Sample[]): Map<string, Sample[]> {
  const groups = new Map<string, Sample[]>()
  for (const sample of samples) {
    const { le: _, ...rest } = sample.labels
    const key = keyOf(rest)
    groups.set(key, [...(groups.get(key) ?? []), sample])
  }
  return groups
}

/** The same for the same labels, in whichever order. */
function keyOf(labels: Sample['labels']): string {
  return JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

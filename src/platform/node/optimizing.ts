/**
 * When V8 optimises what is called often. A start calls thousands of functions a few hundred times, and then no more: to optimise them takes a
 * tenth of its processor time, beside it. Measured with the V8 of Node 20, whose number this is; others are left alone.
 */
const OF_START = 600_000
const OTHERWISE = 67_584

const { v8: version } = process.versions
const setBudget = (bytes: number) => {
  if (version.startsWith('11.3.')) process.getBuiltinModule('node:v8').setFlagsFromString(`--interrupt-budget=${bytes}`)
}

/** Before anything is loaded that V8 has compiled already: it compares its flags with those of then. */
export function optimizeLater(): void {
  setBudget(OF_START)
}

/** The start is over. */
export function optimizeAsEver(): void {
  setBudget(OTHERWISE)
}

/**
 * The room for young objects stays as it is while the program is loaded, whose objects stay: it would grow to 16 MiB, which V8 gives back only after some
 * seconds without work. `heap.ts` lets it grow with the first work. Before anything is loaded, as above.
 */
export function growLater(): void {
  process.getBuiltinModule('node:v8').setFlagsFromString('--semi-space-growth-factor=1')
}

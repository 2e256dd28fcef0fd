import { show } from './search.js'
import { testOf } from './shrink.js'
const first = Number(process.argv[2] ?? 10)
const shown = await show(() => ({}), first, Number(process.argv[3] ?? 60))
console.log(shown && testOf(shown.seed, shown.shrunk))
process.exit(0)

/**
 * Lists what has, or may hide, a life outside of machines and the real world (`src/platform/node`): what `lives.mjs` finds, each with its
 * reason (`lives-reasons.mjs`). A life is a machine, a timer with an owner is an alarm (`src/kernel/alarm.ts`), whose users are listed for those
 * who look. What ought to be a machine says so, and is counted.
 *
 * What runs in other programs is counted, not explained: the client, the page, the kit of plugins, the Lua sandbox,
 * the reader of web pages, the toolbox and the library of tests.
 *
 * With --check nothing is listed; what has no reason, and a reason of nothing, are named and the exit code is 1.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { livesIn } from './lives.mjs'
import { REASONS, TO_DRAW } from './lives-reasons.mjs'

const ELSEWHERE = [
  'src/published/client/',
  'src/programs/page/',
  'src/published/kit/',
  'src/programs/sandbox/',
  'src/programs/reader/',
  'src/programs/toolbox/',
  'src/published/testing/',
  'src/simulation/',
]
const LEFT_OUT = ['src/machines/', 'src/platform/node/']
/** Where an alarm answers. */
const ALARM = 'src/kernel/alarm.ts'

const home = dirname(dirname(fileURLToPath(import.meta.url)))

/** What is found below `src` of a tree, and what is wrong with it; reasons are those of this repository. */
export function livesOf(root) {
  const reasons = root === home ? REASONS : {}
  const found = []
  const alarms = []
  for (const path of readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).map((name) => `src/${name}`))
    if (path.endsWith('.ts') && !LEFT_OUT.some((folder) => path.startsWith(folder))) look(root, path, { found, alarms })

  const here = found.filter(({ path }) => !ELSEWHERE.some((folder) => path.startsWith(folder)))
  const keys = new Map(here.map((each) => [`${each.path} ${each.name}`, reasonKeyOf(each, reasons)]))
  const used = new Set(keys.values())
  const problems = [
    ...[...keys]
      .filter(([, reason]) => reason === undefined)
      .map(([key]) => `${key}: has no reason. Make it a machine, or an alarm with an owner.`),
    ...Object.keys(reasons)
      .filter((key) => !used.has(key))
      .map((key) => `${key}: is a reason of nothing.`),
  ]
  return { reasons, found, alarms, here, keys, problems }
}

function look(root, path, { found, alarms }) {
  const text = readFileSync(join(root, path), 'utf8')
  for (const { name, line } of livesIn(text)) if (path !== ALARM || !/\.is(?:Over|Set)$/.test(name)) found.push({ path, name, line })
  for (const line of text.split('\n'))
    if (/\b(createAlarm|watchSilence)\(clock|\b(createAlarm|watchSilence)\(\w+\.clock/.test(line)) alarms.push(relative('src', path))
}

/** Its own, or that of its folder. */
function reasonKeyOf({ path, name }, reasons) {
  const own = `${path} ${name}`
  return own in reasons ? own : Object.keys(reasons).find((key) => key.endsWith('/') && path.startsWith(key))
}

function list({ reasons, found, alarms, here, keys }) {
  for (const each of here) console.log(`${each.path}:${each.line} ${each.name}: ${reasons[reasonKeyOf(each, reasons)] ?? '?'}`)
  const toDraw = [...keys.values()].filter((key) => reasons[key]?.startsWith(TO_DRAW)).length
  console.log(`\n${keys.size} in the server, of which ${toDraw} are to be drawn; ${found.length - here.length} in other programs`)
  console.log(`\nalarms: ${alarms.toSorted((a, b) => a.localeCompare(b)).join(', ')}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const lives = livesOf(process.argv.slice(2).find((each) => !each.startsWith('--')) ?? home)
  if (!process.argv.includes('--check')) list(lives)
  for (const problem of lives.problems) console.error(problem)
  process.exitCode = lives.problems.length === 0 ? 0 : 1
}

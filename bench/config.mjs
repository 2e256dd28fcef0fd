/**
 * `node bench/config.mjs`: what the configuration of a directory with 200 agents, 200 commands and 200 skills costs, in process, as
 * milliseconds of processor time (the machine may have other work), with the number of files asked about. Exits with 1 when a bound is broken.
 */
import { build } from 'esbuild'
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const MANY = 200
const THOUSAND = 1000
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const place = realpathSync(mkdtempSync(join(tmpdir(), 'svc-bench-')))
const bundle = join(root, 'node_modules', `.svc-bench-config-${process.pid}.mjs`)
let isBroken = false

try {
  await build({
    stdin: {
      contents: `
        export { createResourceFacades } from './src/actors/resource/facade/resources.ts'
        export { createManagement } from './src/actors/runtime/management.ts'
        export { createNodeEffects } from './src/platform/node/node-effects.ts'
      `,
      resolveDir: root,
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    outfile: bundle,
    logLevel: 'error',
  })
  await measure(await import(bundle))
} finally {
  rmSync(bundle, { force: true })
  rmSync(place, { recursive: true, force: true })
}
process.exit(isBroken ? 1 : 0)

async function measure({ createResourceFacades, createManagement, createNodeEffects }) {
  process.env.HOME = place
  process.env.XDG_CONFIG_HOME = join(place, 'config')
  process.env.SVC_AGENT_STATE_DIR = join(place, 'state')
  const work = join(place, 'work')
  mkdirSync(join(work, '.git'), { recursive: true })
  write('work/svc.json', '{ "username": "one" }')
  write('work/AGENTS.md', 'Be kind.\n')
  for (let index = 0; index < MANY; index++) {
    const body = `Line ${index} of what it says.\n`.repeat(20)
    write(`work/.svc/agents/agent-${index}.md`, `---\ndescription: Agent ${index}\nmode: subagent\npermission:\n  edit: deny\n---\n${body}`)
    write(`work/.svc/commands/command-${index}.md`, `---\ndescription: Command ${index}\nagent: build\n---\n${body}$ARGUMENTS\n`)
    write(`work/.svc/skills/skill-${index}/SKILL.md`, `---\nname: skill-${index}\ndescription: Skill ${index}\n---\n${body}`)
  }
  const calls = { asked: 0 }
  const real = createNodeEffects({ logLevel: 'error' })
  const watched = new Set()
  const watchFolder = (path, onChange) => (watched.add(path), real.files.watchFolder(path, onChange))
  const effects = { ...real, files: { ...counted(real.files, calls), watchFolder } }
  const { configs, resources } = createResourceFacades({ effects })
  const everything = () =>
    Promise.all([
      resources.agents(work),
      resources.commands(work),
      resources.skills(work),
      resources.instructions(work),
      configs.load(work),
    ])

  const first = cpu()
  await everything()
  tell('first look', first(), Number.POSITIVE_INFINITY, calls)

  for (let warm = 0; warm < 20; warm++) await change(warm)
  const changes = []
  for (let round = 0; round < 40; round++) changes.push(await change(round))
  tell('effective configuration after one changed file, p95', percentile(changes, 0.95), 20, calls, 60)

  await everything()
  calls.asked = 0
  tell('configuration, nothing changed', await average(2000, () => configs.load(work)), 0.05, calls)
  if (calls.asked > 0) isBroken = true
  tell('configuration shown to a client, nothing changed', await average(500, () => configs.show(work)), 0.05, calls)
  tell('agents, commands, skills, instructions and configuration, nothing changed', await average(500, everything), 2, calls)

  for (let index = 0; index < 400; index++) write(`work/.svc/agents/more-${index}.md`, `---\ndescription: More ${index}\n---\nMore.\n`)
  const management = createManagement({ effects, git: undefined, snapshots: configs.snapshots, resources })
  const here = { scope: 'workspace', directory: work }
  const list = async () =>
    (await management.agents.list(here)).length +
    (await management.commands.list(here)).length +
    (await management.skills.list(here)).length
  const count = await list()
  tell(`listing ${count} managed resources`, await average(50, list), 10, calls)

  const before = watched.size
  for (let index = 0; index < THOUSAND; index++) {
    mkdirSync(join(place, `registered/${index}`), { recursive: true })
    await management.workspaces.create({ directories: undefined }, { root: join(place, `registered/${index}`), name: `Workspace ${index}` })
  }
  calls.asked = 0
  tell(`configuration with ${THOUSAND} registered workspaces`, await average(2000, () => configs.load(work)), 0.05, calls)
  console.log(`${watched.size - before} folders watched for them`)
  if (watched.size > before) isBroken = true

  async function change(round) {
    const path = join(work, `.svc/agents/agent-${round % MANY}.md`)
    writeFileSync(`${path}.new`, `---\ndescription: Changed ${round} ${Math.random()}\n---\nChanged.\n`)
    renameSync(`${path}.new`, path)
    const used = cpu()
    await configs.load(work, { fresh: true })
    return used()
  }
}

function write(path, text) {
  mkdirSync(dirname(join(place, path)), { recursive: true })
  writeFileSync(join(place, path), text)
}

function counted(files, calls) {
  const names = ['stat', 'entry', 'realPath', 'readLink', 'read', 'readDirectory', 'exposure']
  const counting = names.map((name) => [name, (...given) => ((calls.asked += 1), files[name](...given))])
  return { ...files, ...Object.fromEntries(counting) }
}

function cpu() {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
}

async function average(rounds, work) {
  for (let warm = 0; warm < rounds / 10; warm++) await work()
  const used = cpu()
  for (let round = 0; round < rounds; round++) await work()
  return used() / rounds
}

function percentile(values, at) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * at)]
}

function tell(what, ms, most, calls, rounds = 1) {
  const bound = Number.isFinite(most) ? ` (at most ${most} ms)` : ''
  if (ms > most) isBroken = true
  console.log(
    `${ms > most ? 'MISSED ' : ''}${what}: ${ms.toFixed(3)} ms${bound}, ${Math.round(calls.asked / rounds)} questions to the disk`,
  )
  calls.asked = 0
}

/**
 * The documents, followed word for word: every command and program of README.md and docs runs against the built program, or is named in
 * `NOT_RUN` with the reason, or belongs to a guide with a test of its own. A command that nobody runs fails.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { whyNoBubblewrap } from './server/bubblewrap.js'
import {
  type Block,
  blocksOf,
  headingsOf,
  indentedCommands,
  inlineCalls,
  linksOf,
  openTerminal,
  proseOf,
  ROOT,
} from './server/documents.js'
import { installPackage } from './server/installed.js'
import snapshot from '../../src/actors/provider/catalog/snapshot.json' with { type: 'json' }
import { helpText } from '../../src/cli/help/help.js'
import { PAGES } from '../../src/cli/help/pages.js'
import { isInstalled, lacking, type Program, PROGRAMS } from '../fakes/machine.js'
import { makePlace } from './server/place.js'
import { openScene, type Scene, type Server } from './server/server.js'

const DOCUMENTS = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
  ...readdirSync(join(ROOT, 'docs/providers')).map((name) => `docs/providers/${name}`),
  'examples/workflow/README.md',
]

/** Guides with a test that runs all of them. */
const FOLLOWED_ELSEWHERE: Readonly<Record<string, string>> = {
  'docs/external-agents.md': 'external/preview.test.ts',
  'docs/plugins.md': 'plugin/guide.test.ts',
  'docs/plugin-brokers.md': 'plugin/brokers-of-sessions.test.ts',
  'docs/client.md': 'published/client-guide.test.ts',
  'docs/http.md': 'published/client-guide.test.ts',
  'docs/testing.md': 'published/testing-guide.test.ts',
  'docs/providers.md': '../cli/program-auth.test.ts',
  'docs/workers.md': 'hosting/worker.test.ts',
}

const NO_SANDBOX = whyNoBubblewrap()

/** Lines that no test can run as they stand. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'npm ci && npm start': 'fetches packages, builds over the program that is tested here, and serves for ever',
  'npm ci && npm test': 'fetches packages and runs these tests; .ci/run does both',
  'npm ci': 'fetches packages; .ci/run begins with it',
  'git pull': 'changes the clone',
  'npm run build': 'builds over the program that is tested here; the tests begin with it',
  'systemctl --user daemon-reload': 'changes the machine',
  'systemctl --user enable --now svc': 'changes the machine',
  'journalctl --user -u svc': 'needs the unit',
  'npm run package': 'needs the clone; test/nodes packs and installs',
  'npm i -g ./svc-runtime-svc-*.tgz': 'changes the machine; test/nodes installs it elsewhere',
  'npm i svc@file:./svc-runtime-svc-0.1.0.tgz': 'needs the package; test/nodes imports it by this name',
  'npm run package -- --standalone': 'needs the clone, and fetches a Node',
  'tar -xzf svc-*-linux-x64.tar.gz && ./svc-*-linux-x64/bin/svc run list': 'needs the archive',
}

const LANGUAGES = ['sh', 'js', 'json', 'jsonc', 'ini', 'mermaid', 'markdown', 'nginx', 'lua']

interface Step {
  /** What must be printed. */
  readonly prints: RegExp
  /** It never ends by itself: what it has to print is waited for. */
  readonly endless?: true
  /** A server runs meanwhile. */
  readonly server?: true
  /** A program that this machine may lack. */
  readonly needs?: Program
  prepare?(server: Server | undefined): Promise<void>
  after?(): Promise<void> | void
}

let scene: Scene
beforeEach(() => {
  scene = openScene(makePlace())
})
afterEach(() => scene.close())

const nothing: Step = { prints: /^$/ }

/** The blocks of commands of each document, in order. */
const STEPS: Readonly<Record<string, readonly Step[]>> = {
  'README.md': [
    nothing,
    {
      server: true,
      endless: true,
      needs: 'curl',
      prints: /event: session\.prompt\.admitted[^]*event: message\.part\.updated[^]*Listing \. is done/,
    },
    { prints: /→ read \.[^]*README\.md/ },
    nothing,
    { prints: /→ hello Ada\n[^]*Calling hello is done: Hello, Ada!\n/ },
    { needs: 'perl', prints: /→ hello Ada\n[^]*Calling hello is done: Good morning, Ada!\n/ },
  ],
  'docs/tenants.md': [{ prints: /^svct_[\w-]{43}\n[^]*^[0-9a-f]{12} {2}acme {4}\/\S+ {2}none$/m }],
  'docs/configuration.md': [{ prints: /^write {2}\S*svc\.json$[^]*^wrote \S*svc\.json$/m }],
  'docs/inspector.md': [
    {
      server: true,
      prints: /^http:\/\/127\.0\.0\.1:\d+\/v2\/inspector$/m,
      after: async () => expect.poll(opened).toMatch(/\/v2\/inspector\n$/),
    },
    { prepare: saveTrace, prints: /^file:.*\.html$/m },
    { prints: /^\S+ \(session\): \d+ events, then \S/m },
  ],
  'docs/operations.md': [
    nothing,
    nothing,
    nothing,
    nothing,
    { server: true, prepare: converse, prints: /^wrote .*svc-monday\.tar: .*, 1 conversation, .* without credentials\n$/ },
    { prints: /^restored .*look: .*\nrestored .*\nwhat was there before is in .*\n/, after: () => expect(restored()).toBe(true) },
    { prints: /^ok {4}providers {8}svc$/m },
  ],
  'docs/troubleshooting.md': [
    { prints: /^ok {4}node[^]*no packages/ },
    { prints: /^\d+\.\d+\.\d+\n$/, after: () => expect(report()).toMatchObject({ ok: true }) },
  ],
  'examples/workflow/README.md': [
    { prints: /weekly-notes\.md \(weekly-notes\)[^]*every Friday|weekly-notes\.md \(weekly-notes\)[^]*fri/i },
    { server: true, prints: /weekly-notes\n[^]*manual/ },
  ],
}

/** A trace of a prompt, with payloads, by somebody who looked from the beginning. */
async function saveTrace(): Promise<void> {
  const server = await scene.start({}, 0, ['--inspect-payloads'])
  const looking = new AbortController()
  const { body } = await fetch(`${server.url}/v2/inspector/events`, { signal: looking.signal })
  await body?.getReader().read()
  const { id } = await server.createSession()
  await server.prompt(id, { prompt: 'list' })
  await server.call('POST', `/v2/sessions/${id}/wait`)
  const trace = await server.call('GET', '/v2/inspector/trace')
  looking.abort()
  await server.stop()
  scene.place.write('svc-trace.json', trace.text)
}

/** Something that a backup has to bring back. */
async function converse(server: Server | undefined): Promise<void> {
  await server?.createSession({ title: 'Kept' })
}

const opened = () => readFileSync(join(scene.place.root, 'opened'), 'utf8')
const restored = () => readFileSync(join(scene.place.home, '.local/state/svc/agent.sqlite3')).includes('Kept')
const report = () => JSON.parse(scene.place.read('doctor.json')) as unknown

/** Blocks that are run: commands, and programs for Node. */
const commandsOf = (document: string) => blocksOf(document).filter(({ language }) => language === 'sh' || language === 'js')

/** What a person types for a block: of commands, the lines that can be run. */
function typed({ language, text }: Block, index: number): string {
  if (language === 'js') {
    writeFileSync(join(scene.place.root, `block-${index}.mjs`), text)
    return `node ../block-${index}.mjs`
  }
  return text
    .split('\n')
    .filter((line) => !(line.replace(/\s+#.*$/, '') in NOT_RUN))
    .join('\n')
}

test('README.md gives the one command that runs svc, and the one that passes the tests', () => {
  const lines = readFileSync(join(ROOT, 'README.md'), 'utf8').split('\n')
  const commands = lines.map((line) => line.replace(/\s+#.*$/, ''))
  expect(commands).toEqual(expect.arrayContaining(['npm ci && npm start', 'npm ci && npm test']))
})

test('README.md names every program that makes more of the tests run', () => {
  const text = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const [, named = ''] = /skipped where those are missing, and named with\s+them: ([^.]*) make all of them run/.exec(text) ?? []
  const names = named.split(/,\s+|\s+and\s+/).map((name) => name.replace(/ \(.*/, ''))
  expect(names.toSorted()).toEqual(['Chromium', 'bubblewrap', ...PROGRAMS].toSorted())
})

describe('the commands of', () => {
  const documents = Object.entries(STEPS).map(([document, steps]) => ({
    document,
    without: lacking(...new Set(steps.flatMap(({ needs }) => needs ?? []))),
  }))
  test.for(documents)('$document do what it says$without', async ({ document, without }, { skip }) => {
    // The directories are those that the documents name.
    const usual = { SVC_AGENT_STATE_DIR: '', XDG_CONFIG_HOME: '' }
    const terminal = openTerminal(scene.place, usual)
    installPackage(scene.place)
    const steps = STEPS[document] ?? []
    const blocks = commandsOf(document)
    expect(blocks).toHaveLength(steps.length)
    for (const [index, block] of blocks.entries()) {
      const { prints, endless, server: needsServer, needs, prepare, after } = steps[index] ?? nothing
      if (needs !== undefined && !isInstalled(needs)) continue
      const server = needsServer === true ? await scene.start(usual) : undefined
      await prepare?.(server)
      const script = typed(block, index).replaceAll('http://127.0.0.1:4096', server?.url ?? 'http://127.0.0.1:9')
      const ran = await terminal.run(script, endless === true ? prints : undefined)
      const code = endless === true ? undefined : 0
      expect({ block: block.text, ...ran }).toEqual({ block: block.text, code, printed: expect.stringMatching(prints) as string })
      await after?.()
      await server?.stop()
    }
    // All that can run here has run, which is not all of it.
    skip(without !== '', without)
  })

  test('every other document have a test of their own', () => {
    for (const document of DOCUMENTS) {
      if (commandsOf(document).length === 0 || document in STEPS) continue
      const guide = FOLLOWED_ELSEWHERE[document]
      expect([document, guide !== undefined && existsSync(join(ROOT, 'test/e2e', guide))]).toEqual([document, true])
    }
  })

  test('all documents are in blocks that say what they are', () => {
    for (const document of DOCUMENTS) {
      expect([document, indentedCommands(document)]).toEqual([document, []])
      if (document in FOLLOWED_ELSEWHERE) continue
      expect([document, blocksOf(document).filter(({ language }) => !LANGUAGES.includes(language))]).toEqual([document, []])
    }
  })

  test('the list of what is not run are still there', () => {
    const lines = DOCUMENTS.flatMap(commandsOf).flatMap(({ text }) => text.split('\n').map((line) => line.replace(/\s+#.*$/, '')))
    expect(Object.keys(NOT_RUN).filter((line) => !lines.includes(line))).toEqual([])
  })
})

const configurationsOf = (document: string) => blocksOf(document).flatMap(({ language, text }) => (language === 'json' ? [text] : []))

describe('the pages of providers', () => {
  test('there is one for each vendor of the catalog, which names its variables and a model it has', () => {
    const { $about: _, ...vendors } = snapshot
    for (const [id, { env, models }] of Object.entries(vendors)) {
      const text = readFileSync(join(ROOT, 'docs/providers', `${id}.md`), 'utf8')
      for (const name of env) expect([id, text]).toEqual([id, expect.stringContaining(name)])
      const [, asked = ''] = new RegExp(`--model ${id}/(\\S+) `).exec(text) ?? []
      expect([id, Object.keys(models)]).toEqual([id, expect.arrayContaining([asked])])
    }
  })

  test('show configuration that is understood', async () => {
    const shown = DOCUMENTS.filter((name) => name.startsWith('docs/providers/')).flatMap(configurationsOf)
    expect(shown.length).toBeGreaterThan(6)
    const providers = shown.map((text) => (JSON.parse(text) as { provider: Record<string, object> }).provider)
    scene.place.configure({ provider: Object.assign({}, ...providers) as object })
    const server = await scene.start()
    expect(await server.get('/v2/config/validate')).toEqual({ ok: true, diagnostics: [] })
    const ids = (await server.get<{ all: { id: string }[] }>('/v2/providers')).all.map(({ id }) => id)
    expect(ids).toEqual(expect.arrayContaining(['mine', 'ollama', 'github-copilot', 'openrouter']))
  })
})

describe('the documents', () => {
  test('name commands and options that there are', async () => {
    const groups = new Set<string>(PAGES.flatMap((page) => ('pages' in page ? [page.name] : [])))
    const help = new Map([['', helpText(undefined)]])
    for (const page of PAGES)
      for (const name of 'alias' in page && page.alias !== undefined ? [page.name, page.alias] : [page.name])
        help.set(name, helpText(page.name))
    // What the pages say is what the program prints.
    expect((await openTerminal(scene.place).run('svc help; svc help session')).printed).toBe(`${help.get('')}${help.get('session')}`)
    const unknown = DOCUMENTS.flatMap((document) =>
      inlineCalls(document).flatMap((call) => {
        if (call.startsWith('svc agent listening')) return []
        const [, command = '', ...rest] = call.split(/\s+/)
        const text = help.get(command) ?? (command === 'help' ? help.get('') : undefined)
        if (text === undefined) return [`${document}: ${call}`]
        const action = groups.has(command) && rest[0] !== undefined && /^[a-z]+$/.test(rest[0]) ? [rest[0]] : []
        const named = [...action.map((each) => `  ${each} `), ...rest.filter((word) => word.startsWith('--'))]
        return named.every((word) => text.includes(word) || text.includes(word.trimEnd())) ? [] : [`${document}: ${call}`]
      }),
    )
    expect(unknown).toEqual([])
  })

  test('have no dead link', () => {
    const dead = DOCUMENTS.flatMap((document) =>
      linksOf(document).flatMap(({ file, heading }) => {
        if (!existsSync(join(ROOT, file))) return [`${document}: ${file}`]
        return heading === '' || headingsOf(file).includes(heading) ? [] : [`${document}: ${file}#${heading}`]
      }),
    )
    expect(dead).toEqual([])
  })

  test('quote messages that the program has', () => {
    const sources = ['src', 'scripts'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).flatMap((name) =>
        /\.(?:ts|mjs)$/.test(name) ? [readFileSync(join(ROOT, folder, name), 'utf8')] : [],
      ),
    )
    const program = sources.join('\n')
    const quotes = [...proseOf('docs/troubleshooting.md').matchAll(/^\| ([^|]*`[^|]*) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, quote = '']) => quote),
    )
    expect(quotes.length).toBeGreaterThan(30)
    expect(quotes.filter((quote) => !program.includes(fixedPart(quote)))).toEqual([])
  })

  const shown = ['README.md', 'docs/security.md'].flatMap((document) =>
    configurationsOf(document).map((text, index) => ({ document, text, index })),
  )
  test('show four configurations', () => {
    expect(shown).toHaveLength(4)
  })

  for (const { document, text, index } of shown) {
    const why = /"sandbox": "on"/.test(text) ? NO_SANDBOX : undefined
    test.skipIf(why !== undefined)(
      `show configuration that is understood: ${document}, ${index + 1}${why === undefined ? '' : ` (skipped: ${why})`}`,
      async () => {
        mkdirSync(dirname(scene.place.configFile), { recursive: true })
        writeFileSync(scene.place.configFile, text)
        expect((await openTerminal(scene.place).run('svc doctor')).printed).toMatch(/^ok {4}configuration/m)
      },
    )
  }

  test('show a workflow that is valid', async () => {
    const workflow = blocksOf('docs/workflows.md').find(({ language }) => language === 'markdown')
    scene.place.write('.svc/workflows/shown.md', workflow?.text ?? '')
    expect(await openTerminal(scene.place).run('svc workflow validate')).toMatchObject({ code: 0 })
  })
})

/** The longest part of a quoted message without names, paths and numbers. */
function fixedPart(quote: string): string {
  const parts = quote.split(/: |\S*[\d/…"]\S*|[();]|\b[A-Z]+(?:_[A-Z]+)+\b|\b(?:but|foo|hello|connect)\b/).map((part) => part.trim())
  return parts.toSorted((one, other) => other.length - one.length)[0] ?? quote
}

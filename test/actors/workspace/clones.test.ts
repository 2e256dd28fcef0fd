// Holds threat-model V3.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Caller } from '../../../src/protocol/caller.js'
import { createCloner } from '../../../src/platform/git/program/cloner.js'
import { createManagedPlace } from '../resource/managed/place.js'

const operator: Caller = { subject: 'local-operator', tenantId: 'local', authenticated: true, operator: true, directoryPrefixes: undefined }
const FOREVER = AbortSignal.any([])

/** A repository whose checkout would run a filter and whose submodule names a program, where git were told so. */
function origin(at: (path: string) => string) {
  const directory = at('origin')
  mkdirSync(directory)
  const git = (...args: string[]) => execFileSync('git', ['-C', directory, '-c', 'user.name=x', '-c', 'user.email=x@x', ...args])
  git('init', '--quiet', '-b', 'main')
  writeFileSync(join(directory, 'a.txt'), 'content\n')
  writeFileSync(join(directory, '.gitattributes'), '*.txt filter=evil\n')
  git('add', '.')
  git('commit', '--quiet', '-m', 'one')
  return { url: `file://${directory}`, directory }
}

test('a repository is cloned, registered and checked out; a second clone of its address is a conflict', async () => {
  const { management, at, effects } = createManagedPlace({ git: false })
  const { url } = origin(at)
  const made = await management.repositories.create(operator, { kind: 'clone', remoteUrl: url, ref: 'main', depth: 1, id: 'cl' }, FOREVER)
  expect(made).toMatchObject({ id: 'cl', remoteUrl: url, gitRef: 'main', path: expect.stringMatching(/\/workspaces\/repo-[0-9a-f]{16}$/) })
  expect(readFileSync(join(made.path, 'a.txt'), 'utf8')).toBe('content\n')
  expect(readdirSync(join(effects.paths.state, 'clones'))).toEqual([])
  await expect(management.repositories.create(operator, { kind: 'clone', remoteUrl: url }, FOREVER)).rejects.toMatchObject({
    code: 'resource.conflict',
  })
})

test('addresses that name a program, carry a credential or lead nowhere are refused, and nothing stays', async () => {
  const { management, at, effects } = createManagedPlace({ git: false })
  const ran = at('ran')
  const bad = [
    `ext::touch ${ran}`,
    'ssh://h/x',
    'git@h:x',
    '--upload-pack=x',
    '/tmp/x',
    'https://me:secret@example.org/x',
    `file://${at('none')}`,
  ]
  for (const remoteUrl of bad) {
    await expect(management.repositories.create(operator, { kind: 'clone', remoteUrl }, FOREVER)).rejects.toMatchObject({
      code: 'management.invalid_request',
    })
  }
  const { url } = origin(at)
  const cancelled = management.repositories.create(operator, { kind: 'clone', remoteUrl: url }, AbortSignal.abort())
  await expect(cancelled).rejects.toThrow(/abort/i)
  expect([existsSync(ran), readdirSync(join(effects.paths.state, 'workspaces'))]).toEqual([false, []])
})

test('a filter, a hook and a template that plain git runs are not run', async () => {
  const { management, at } = createManagedPlace({ git: false })
  const { url } = origin(at)
  const [ran, template] = [at('ran'), at('template')]
  mkdirSync(join(template, 'hooks'), { recursive: true })
  writeFileSync(join(template, 'hooks/post-checkout'), `#!/bin/sh\ntouch ${ran}-hook\n`)
  chmodSync(join(template, 'hooks/post-checkout'), 0o755)
  const settings = at('gitconfig')
  writeFileSync(settings, `[filter "evil"]\n\tsmudge = touch ${ran}-filter; cat\n[init]\n\ttemplateDir = ${template}\n`)
  const before = process.env['GIT_CONFIG_GLOBAL']
  process.env['GIT_CONFIG_GLOBAL'] = settings
  try {
    await management.repositories.create(operator, { kind: 'clone', remoteUrl: url }, FOREVER)
    expect([existsSync(`${ran}-hook`), existsSync(`${ran}-filter`)]).toEqual([false, false])
    execFileSync('git', ['clone', '--quiet', url, at('plain')])
    expect([existsSync(`${ran}-hook`), existsSync(`${ran}-filter`)], 'control').toEqual([true, true])
  } finally {
    if (before === undefined) delete process.env['GIT_CONFIG_GLOBAL']
    else process.env['GIT_CONFIG_GLOBAL'] = before
  }
})

test('what a killed clone left is removed by the next start, and a registered one stays', async () => {
  const { management, at, effects } = createManagedPlace({ git: false })
  const { url } = origin(at)
  const { path } = await management.repositories.create(operator, { kind: 'clone', remoteUrl: url }, FOREVER)
  const half = join(effects.paths.state, 'workspaces/repo-0123456789abcdef')
  mkdirSync(join(half, '.git'), { recursive: true })
  const notes = join(effects.paths.state, 'clones')
  for (const name of ['repo-0123456789abcdef', path.slice(-21)]) writeFileSync(join(notes, name), '')
  await management.recover()
  expect([existsSync(half), existsSync(join(path, 'a.txt')), readdirSync(notes)]).toEqual([false, true, []])
})

test('a clone that is cancelled, or stopped, while its server keeps silent leaves nothing; a taken id is noticed before', async () => {
  const { management, at, effects } = createManagedPlace({ git: false })
  const { url } = origin(at)
  await management.repositories.create(operator, { kind: 'clone', remoteUrl: url, id: 'taken' }, FOREVER)
  const asked: (() => void)[] = []
  const silent = createServer(() => asked.shift()?.())
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const address = silent.address()
  const remoteUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/x.git`
  const create = (id: string, signal = FOREVER) => management.repositories.create(operator, { kind: 'clone', remoteUrl, id }, signal)
  try {
    await expect(create('taken')).rejects.toMatchObject({ code: 'resource.conflict' })
    for (const end of ['cancel', 'stop']) {
      const heard = new Promise<void>((resolve) => asked.push(resolve))
      const left = new AbortController()
      const outcome = create('new', left.signal).then(
        () => 'made',
        () => 'refused',
      )
      await heard
      if (end === 'cancel') left.abort()
      else management.stop()
      expect(await outcome).toBe('refused')
      expect([readdirSync(join(effects.paths.state, 'workspaces')).length, readdirSync(join(effects.paths.state, 'clones'))]).toEqual([
        1,
        [],
      ])
    }
    await expect(create('new')).rejects.toMatchObject({ code: 'lifecycle.closed' })
  } finally {
    silent.closeAllConnections()
    silent.close()
  }
})

test('a bare repository is cloned over http, and nothing is asked where a server leads', async () => {
  const { management, at } = createManagedPlace({ git: false })
  const { url } = origin(at)
  const bare = at('bare.git')
  execFileSync('git', ['clone', '--quiet', '--bare', url, bare])
  execFileSync('git', ['-C', bare, 'update-server-info'])
  const led: string[] = []
  const server = createServer(({ url: path = '/' }, answer) => {
    if (path.startsWith('/moved')) return answer.writeHead(301, { location: path.replace('/moved', '/inner') }).end()
    if (path.startsWith('/inner')) led.push(path)
    const file = join(bare, new URL(path, 'http://x').pathname)
    const isThere = existsSync(file) && statSync(file).isFile()
    answer.writeHead(isThere ? 200 : 404).end(isThere ? readFileSync(file) : '')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const remoteUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`
  try {
    const { path } = await management.repositories.create(operator, { kind: 'clone', remoteUrl }, FOREVER)
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('content\n')
    await expect(
      management.repositories.create(operator, { kind: 'clone', remoteUrl: `${remoteUrl}moved/` }, FOREVER),
    ).rejects.toMatchObject({
      code: 'management.invalid_request',
      message: expect.stringContaining('Redirects are not followed: clone the address that it leads to.') as string,
    })
    expect(led).toEqual([])
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test('what is fetched and what is checked out are bounded, each before it is whole', async () => {
  const { at, programs } = createManagedPlace({ git: false })
  const { directory } = origin(at)
  const noise = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * index * 2_654_435_761) >>> 13))
  writeFileSync(join(directory, 'even.bin'), Buffer.alloc(300_000))
  const commit = () => {
    for (const args of [
      ['add', '.'],
      ['commit', '--quiet', '-m', 'more'],
    ])
      execFileSync('git', ['-C', directory, '-c', 'user.name=x', '-c', 'user.email=x@x', ...args])
  }
  commit()
  const small = createCloner(programs, { cloneBytes: 100_000 })
  const source = (name: string) => ({
    url: `file://${directory}`,
    ref: undefined,
    depth: undefined,
    parent: at('.'),
    target: at(name),
    signal: FOREVER,
    onProgress: () => undefined,
  })
  await small.fetchNew(source('one')) // what is all the same is small on its way
  const refused = { code: 'management.invalid_request', message: expect.stringMatching(/larger than/) as string }
  await expect(small.checkOutNew(source('one'))).rejects.toMatchObject(refused)
  expect(readdirSync(at('one'))).toEqual(['.git'])
  const few = createCloner(programs, { cloneFiles: 1 })
  await few.fetchNew(source('three'))
  await expect(few.checkOutNew(source('three'))).rejects.toMatchObject({ message: 'The repository holds more than 1 files.' })
  expect(readdirSync(at('three'))).toEqual(['.git'])
  writeFileSync(join(directory, 'noise.bin'), noise)
  commit()
  await expect(small.fetchNew(source('two'))).rejects.toMatchObject(refused)
})

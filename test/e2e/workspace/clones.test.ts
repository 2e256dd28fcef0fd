/** Repositories that the service clones: over file and HTTP, cancelled, killed, tried again, and hostile (subsystems b.14; threat-model §4.4). */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GitServer, startGitServer } from '../../fixtures/git-server.js'
import { makePlace } from '../server/place.js'
import { mentioning, untilNone } from '../server/processes.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import type { Stream } from '../server/stream.js'

const TOKEN = 'operator-token'
let scene: Scene
let server: Server
let stream: Stream
let remote: GitServer
const at = (path: string) => join(scene.place.root, path)
const inState = (name: string) => (existsSync(join(scene.place.state, name)) ? readdirSync(join(scene.place.state, name)) : [])
const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-C', cwd, '-c', 'user.name=x', '-c', 'user.email=x@x', ...args], { stdio: ['ignore', 'pipe', 'ignore'] })

/** A bare repository `<name>.git` with what `fill` puts into its work tree. */
function origin(name: string, fill: (directory: string) => void): string {
  const work = at(`${name}-work`)
  mkdirSync(work)
  git(work, 'init', '--quiet', '-b', 'main')
  fill(work)
  git(work, 'add', '.')
  git(work, 'commit', '--quiet', '--allow-empty', '-m', 'one')
  git(scene.place.root, 'clone', '--quiet', '--bare', work, at(`remotes/${name}.git`))
  return `${name}.git`
}

const clone = (remoteUrl: string, more: object = {}) =>
  server.call('POST', '/v2/management/repositories', { kind: 'clone', remoteUrl, ...more })
const rootOf = (body: unknown) => (body as { path: string }).path

async function start(): Promise<void> {
  server = await scene.start({ SVC_AGENT_TOKEN: TOKEN })
  stream = await server.stream({ tail: true })
}

beforeAll(async () => {
  scene = openScene(makePlace())
  mkdirSync(at('remotes'))
  remote = await startGitServer(at('remotes'))
  await start()
})
afterAll(async () => {
  await remote.close()
  await scene.close()
})

describe('a repository with a megabyte in a hundred files', () => {
  let name: string
  beforeAll(() => {
    name = origin('large', (directory) => {
      for (let file = 0; file < 128; file++) writeFileSync(join(directory, `${file}.bin`), randomBytes(8192))
    })
  })
  const whole = (root: string) => readdirSync(root).filter((file) => file.endsWith('.bin')).length

  test('is cloned over file, and over HTTP with progress', async () => {
    const local = await clone(`file://${at('remotes')}/${name}`)
    expect(local.status).toBe(201)
    expect(whole(rootOf(local.body))).toBe(128)

    const far = await clone(`${remote.url}/${name}`)
    expect(far.status).toBe(201)
    const directory = rootOf(far.body)
    expect(whole(directory)).toBe(128)
    const told = stream.events.flatMap((event) =>
      event.type === 'management.repository.progress' && event.data.directory === directory ? [event.data] : [],
    )
    expect(told.filter(({ phase }) => phase === 'Receiving objects').length).toBeGreaterThan(10)
    expect(told).toContainEqual({ directory, phase: 'Receiving objects', percent: 100 })
    expect(inState('clones')).toEqual([])
    expect((await clone(`${remote.url}/${name}`)).status).toBe(409)
  })

  test('whose client leaves in the middle, or whose server is killed there, leaves nothing, and is cloned when it is tried again', async () => {
    const count = inState('workspaces').length
    const url = `${remote.url}/./${name}` // another address, another directory
    const notYet = (address: string) =>
      fetch(`${server.url}/v2/management/repositories`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
        body: JSON.stringify({ kind: 'clone', remoteUrl: address }),
        signal: leaving.signal,
      }).catch(() => 'left')
    let leaving = new AbortController()

    const first = remote.hold(200_000)
    const left = notYet(url)
    await first.held
    expect(inState('clones')).toHaveLength(1)
    leaving.abort()
    expect(await left).toBe('left')
    await expect.poll(() => [inState('clones'), inState('workspaces').length]).toEqual([[], count])
    first.letGo()
    expect(await untilNone(() => mentioning(url))).toEqual([])

    leaving = new AbortController()
    const second = remote.hold(200_000)
    void notYet(url)
    await second.held
    await server.kill()
    expect(inState('clones')).toHaveLength(1)
    expect(await untilNone(() => mentioning(url))).toEqual([])
    second.letGo()
    await start()
    expect([inState('clones'), inState('workspaces').length]).toEqual([[], count])

    const again = await clone(url)
    expect(again.status).toBe(201)
    expect(whole(rootOf(again.body))).toBe(128)
  })
})

test('a hostile repository runs nothing and writes nothing outside; plain git is the control', async () => {
  const ran = at('ran')
  const name = origin('hostile', (directory) => {
    const program = `ext::sh -c touch% ${ran}-submodule`
    writeFileSync(join(directory, '.gitmodules'), `[submodule "a"]\n\tpath = a\n\turl = ${program}\n`)
    mkdirSync(join(directory, 'a'))
    writeFileSync(join(directory, '.gitattributes'), '*.txt filter=evil diff=evil\n')
    writeFileSync(join(directory, '.lfsconfig'), `[lfs]\n\turl = ${program}\n`)
    writeFileSync(join(directory, 'a.txt'), 'content\n')
    symlinkSync('.git/hooks', join(directory, 'link'))
    symlinkSync('/', join(directory, 'everything'))
    git(directory, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},a`)
  })
  const url = `${remote.url}/${name}`
  const { status, body } = await clone(url)
  expect(status).toBe(201)
  const root = rootOf(body)
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('content\n')
  expect(existsSync(join(root, '.git/hooks/post-checkout'))).toBe(false)
  expect(existsSync(`${ran}-submodule`)).toBe(false)

  const allowed = ['-c', 'protocol.ext.allow=always']
  try {
    git(scene.place.root, ...allowed, 'clone', '--quiet', '--recurse-submodules', at(`remotes/${name}`), at('plain'))
  } catch {
    // What the submodule is fetched with is no git server; it has run.
  }
  expect(existsSync(`${ran}-submodule`), 'control').toBe(true)
})

test('files in the directory of git itself are never written: the clone fails and nothing stays', async () => {
  const name = origin('inside', (directory) => writeFileSync(join(directory, 'a'), 'x'))
  const bare = at(`remotes/${name}`)
  const inBare = (input: string, ...args: string[]) =>
    execFileSync('git', ['-C', bare, ...args], { input })
      .toString()
      .trim()
  const blob = inBare('#!/bin/sh\n', 'hash-object', '-w', '--stdin')
  const hooks = inBare(`100755 blob ${blob}\tpost-checkout\n`, 'mktree')
  const dotGit = inBare(`040000 tree ${hooks}\thooks\n`, 'mktree')
  const top = inBare(`040000 tree ${dotGit}\t.git\n`, 'mktree')
  const commit = inBare('', '-c', 'user.name=x', '-c', 'user.email=x@x', 'commit-tree', top, '-m', 'evil')
  inBare('', 'update-ref', 'refs/heads/main', commit)
  const before = inState('workspaces').length
  const answer = await clone(`${remote.url}/${name}`)
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("invalid path '.git/hooks/post-checkout'") as string])
  expect([inState('workspaces').length, inState('clones')]).toEqual([before, []])
})

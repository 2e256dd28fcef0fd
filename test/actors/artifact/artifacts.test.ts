// Holds subsystems m; threat-model T4.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { createArtifacts } from '../../../src/actors/artifact/artifacts.js'
import { followBounds } from '../../../src/actors/artifact/storage-bounds.js'
import { type Caller, TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import { SvcError } from '../../../src/protocol/errors.js'
import type { Session } from '../../../src/protocol/session/session.js'
import { openStore } from '../../../src/store/open.js'
import type { Store } from '../../../src/store/store.js'
import { createFakeEffects } from '../../fakes/effects.js'

const LIMIT = 26_214_400
const opened: Store[] = []
afterEach(() => {
  for (const store of opened.splice(0)) store.close()
})

function setup(failpoint?: () => void) {
  const effects = createFakeEffects()
  const store = openStore({ directory: ':memory:', now: effects.clock.now, ...(failpoint !== undefined && { failpoint }) })
  opened.push(store)
  const directory = `${effects.paths.state}/artifacts`
  const artifacts = createArtifacts({ effects, store, directory })
  return { effects, store, directory, artifacts }
}

const hosted = (tenantId: string, directoryPrefixes?: readonly string[]): Caller => ({
  subject: `hosted:${tenantId}`,
  tenantId,
  authenticated: true,
  operator: false,
  directoryPrefixes,
})

function session(id: string, more: Partial<Session> = {}): Session {
  return { id, slug: id, projectId: 'p', directory: '/w', title: 't', version: '1', time: { created: 1, updated: 1 }, ...more }
}

async function* chunks(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part)
}

const upload = (bytes: AsyncIterable<Uint8Array>, more: { filename?: string; sessionId?: string; mediaType?: string } = {}) => ({
  mediaType: more.mediaType ?? 'application/octet-stream',
  filename: more.filename,
  sessionId: more.sessionId,
  bytes,
})

async function collect(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const part of bytes) parts.push(part)
  return Buffer.concat(parts).toString()
}

async function codeOf(work: () => unknown): Promise<string> {
  const outcome = await Promise.resolve()
    .then(work)
    .catch((error: unknown) => error)
  return outcome instanceof SvcError ? outcome.code : `no SvcError: ${String(outcome)}`
}

describe('uploading an artifact', () => {
  it('stores bytes and record, and gives both back', async () => {
    const { artifacts, effects, directory } = setup()
    const artifact = await artifacts.create(
      TRUSTED_CALLER,
      upload(chunks('hello ', 'world'), { filename: 'a.txt', mediaType: 'text/plain; charset=utf-8' }),
    )
    expect(artifact).toEqual({
      id: artifact.id,
      filename: 'a.txt',
      mediaType: 'text/plain; charset=utf-8',
      size: 11,
      sha256: createHash('sha256').update('hello world').digest('hex'),
      created: effects.clock.now(),
      downloadUrl: `/v2/artifacts/${artifact.id}/content`,
    })
    expect(artifact.id).toMatch(/^art_/)
    expect(artifacts.get(TRUSTED_CALLER, artifact.id)).toEqual(artifact)
    const content = artifacts.content(TRUSTED_CALLER, artifact.id)
    expect([content.artifact, await collect(content.bytes)]).toEqual([artifact, 'hello world'])
    expect(readdirSync(`${directory}/local`)).toEqual([artifact.id])
    expect(statSync(`${directory}/local/${artifact.id}`).mode & 0o777).toBe(0o600)
  })

  it('takes an empty body', async () => {
    const { artifacts } = setup()
    const artifact = await artifacts.create(TRUSTED_CALLER, upload(chunks()))
    expect([artifact.size, artifact.filename, await collect(artifacts.content(TRUSTED_CALLER, artifact.id).bytes)]).toEqual([
      0,
      'attachment',
      '',
    ])
  })

  it('takes 26,214,400 bytes and not one more', async () => {
    const { artifacts, directory } = setup()
    const exact = await artifacts.create(TRUSTED_CALLER, upload(chunks(Buffer.alloc(LIMIT - 1), Buffer.alloc(1))))
    expect(exact.size).toBe(LIMIT)
    let pulled = 0
    const endless = async function* () {
      for (;;) {
        pulled++
        yield Buffer.alloc(LIMIT / 2 + 1)
      }
    }
    expect(await codeOf(async () => artifacts.create(TRUSTED_CALLER, upload(endless())))).toBe('artifact.too_large')
    expect([pulled, readdirSync(`${directory}/local`)]).toEqual([2, [exact.id]])
  })

  it.each([
    ['../../etc/passwd', '....etcpasswd'],
    ['..', 'attachment'],
    ['.', 'attachment'],
    ['', 'attachment'],
    [' / \\ ', 'attachment'],
    ['a\r\nSet-Cookie: x\0.txt', 'aSet-Cookie: x.txt'],
    ['invoice\u202Efdp.exe', 'invoicefdp.exe'],
    ['naïve 😀.txt', 'naïve 😀.txt'],
    ['é'.repeat(200), 'é'.repeat(127)],
  ])('names %j %j', async (filename, safe) => {
    const { artifacts, directory } = setup()
    const artifact = await artifacts.create(TRUSTED_CALLER, upload(chunks('x'), { filename }))
    expect([artifact.filename, readdirSync(`${directory}/local`)]).toEqual([safe, [artifact.id]])
  })

  it.each([
    ['image/png', 'image/png'],
    ['nonsense', 'application/octet-stream'],
    ['text/html\r\nX: y', 'application/octet-stream'],
    ['', 'application/octet-stream'],
    [`text/${'x'.repeat(300)}`, 'application/octet-stream'],
  ])('takes the media type %j as %s', async (mediaType, safe) => {
    const { artifacts } = setup()
    expect((await artifacts.create(TRUSTED_CALLER, upload(chunks('x'), { mediaType }))).mediaType).toBe(safe)
  })

  it('leaves nothing behind when the sender fails', async () => {
    const { artifacts, directory } = setup()
    const broken = async function* () {
      yield Buffer.from('x')
      throw new Error('connection lost')
    }
    await expect(artifacts.create(TRUSTED_CALLER, upload(broken()))).rejects.toThrow('connection lost')
    expect([readdirSync(`${directory}/local`), artifacts.list(TRUSTED_CALLER, undefined)]).toEqual([[], []])
  })

  it('leaves nothing behind when the record cannot be stored', async () => {
    const { artifacts, directory } = setup(() => {
      throw new SvcError('store.unavailable')
    })
    expect(await codeOf(async () => artifacts.create(TRUSTED_CALLER, upload(chunks('x'))))).toBe('store.unavailable')
    expect([readdirSync(`${directory}/local`), artifacts.list(TRUSTED_CALLER, undefined)]).toEqual([[], []])
  })

  it('keeps many at once apart', async () => {
    const { artifacts } = setup()
    const slowly = async function* (name: string) {
      for (const character of name) {
        await Promise.resolve()
        yield Buffer.from(character)
      }
    }
    const names = Array.from({ length: 25 }, (_, index) => `content of ${index}`)
    const created = await Promise.all(
      names.map(async (name) => artifacts.create(TRUSTED_CALLER, upload(slowly(name), { filename: 'same' }))),
    )
    expect(await Promise.all(created.map(async ({ id }) => collect(artifacts.content(TRUSTED_CALLER, id).bytes)))).toEqual(names)
  })
})

describe('artifacts of a session', () => {
  it('belong to a session that exists and that the caller may use', async () => {
    const { artifacts, store } = setup()
    store.transact('process', () => {
      store.sessions.insert(session('ses_local'))
      store.sessions.insert(session('ses_a', { svcTenantId: 'a', directory: '/w/a' }))
    })
    const create = (caller: Caller, sessionId: string) => async () => artifacts.create(caller, upload(chunks('x'), { sessionId }))
    expect((await create(TRUSTED_CALLER, 'ses_local')()).sessionId).toBe('ses_local')
    expect(await codeOf(create(TRUSTED_CALLER, 'ses_nowhere'))).toBe('resource.not_found')
    expect(await codeOf(create(TRUSTED_CALLER, 'ses_a'))).toBe('auth.session_forbidden')
    expect(await codeOf(create(hosted('a', ['/w/ab']), 'ses_a'))).toBe('auth.directory_forbidden')
    expect((await create(hosted('a', ['/w']), 'ses_a')()).sessionId).toBe('ses_a')
  })

  it('are not stored when the session goes away during the upload', async () => {
    const { artifacts, store, directory } = setup()
    store.transact('process', () => store.sessions.insert(session('ses_1')))
    const bytes = async function* () {
      yield Buffer.from('x')
      store.transact('process', () => store.sessions.delete('ses_1'))
    }
    expect(await codeOf(async () => artifacts.create(TRUSTED_CALLER, upload(bytes(), { sessionId: 'ses_1' })))).toBe('resource.not_found')
    expect(readdirSync(`${directory}/local`)).toEqual([])
  })

  it('are listed newest first, all or those of one session', async () => {
    const { artifacts, store, effects } = setup()
    store.transact('process', () => store.sessions.insert(session('ses_1')))
    const ids: string[] = []
    for (const sessionId of ['ses_1', undefined, 'ses_1']) {
      ids.push((await artifacts.create(TRUSTED_CALLER, upload(chunks('x'), sessionId === undefined ? {} : { sessionId }))).id)
      effects.clock.advance(10)
    }
    const listed = (sessionId?: string) => artifacts.list(TRUSTED_CALLER, sessionId).map(({ id }) => id)
    expect([listed(), listed('ses_1'), listed('ses_2')]).toEqual([ids.toReversed(), [ids[2], ids[0]], []])
  })
})

describe('tenants', () => {
  it('see nothing of each other', async () => {
    const { artifacts } = setup()
    const { id } = await artifacts.create(hosted('a'), upload(chunks('x')))
    expect(artifacts.list(hosted('b'), undefined)).toEqual([])
    for (const use of [
      async () => artifacts.get(hosted('b'), id),
      async () => artifacts.content(hosted('b'), id),
      async () => artifacts.delete(hosted('b'), id),
    ]) {
      expect(await codeOf(use)).toBe('request.forbidden')
    }
    expect(await codeOf(async () => artifacts.get(hosted('b'), 'art_absent'))).toBe('resource.not_found')
    expect(artifacts.get(hosted('a'), id).id).toBe(id)
  })

  it('never name a path', async () => {
    const { artifacts, directory } = setup()
    for (const tenant of ['../../escape', 'ok-1', '.', '~x']) await artifacts.create(hosted(tenant), upload(chunks('x')))
    expect(readdirSync(directory).map((name) => name.replace(/^~[0-9a-f]{64}$/, '~digest'))).toEqual([
      'ok-1',
      '~digest',
      '~digest',
      '~digest',
    ])
  })
})

describe('deleting an artifact', () => {
  it('removes record and bytes, once', async () => {
    const { artifacts, directory } = setup()
    const { id } = await artifacts.create(TRUSTED_CALLER, upload(chunks('x')))
    await artifacts.delete(TRUSTED_CALLER, id)
    expect([readdirSync(`${directory}/local`), await codeOf(() => artifacts.get(TRUSTED_CALLER, id))]).toEqual([[], 'resource.not_found'])
    expect(await codeOf(async () => artifacts.delete(TRUSTED_CALLER, id))).toBe('resource.not_found')
  })

  it('keeps the bytes when the record cannot be removed', async () => {
    let failing = false
    const { artifacts, directory } = setup(() => {
      if (failing) throw new SvcError('store.unavailable')
    })
    const { id } = await artifacts.create(TRUSTED_CALLER, upload(chunks('x')))
    failing = true
    expect(await codeOf(async () => artifacts.delete(TRUSTED_CALLER, id))).toBe('store.unavailable')
    expect(readFileSync(`${directory}/local/${id}`, 'utf8')).toBe('x')
  })
})

describe('the bounds of the installation', () => {
  it('refuse what would be too many bytes of all tenants together, and keep nothing of it', async () => {
    const { effects, store, directory } = setup()
    const artifacts = createArtifacts({
      effects,
      store,
      directory,
      bounds: followBounds(async () => ({ storage: { artifactsMiB: 10 / 1024 / 1024 } })),
    })
    await artifacts.create(hosted('one'), upload(chunks('12345')))
    await artifacts.create(hosted('two'), upload(chunks('12345')))
    const refused = artifacts.create(hosted('one'), upload(chunks('1')))
    await expect(refused).rejects.toMatchObject({ code: 'quota.exceeded', details: { quota: 'storage.artifactsMiB', limit: 10 } })
    expect(readdirSync(`${directory}/one`)).toHaveLength(1)
  })

  it('let what is older than they say go with a sweep', async () => {
    const { effects, store, directory } = setup()
    const artifacts = createArtifacts({ effects, store, directory, bounds: followBounds(async () => ({ storage: { artifactsDays: 1 } })) })
    await artifacts.create(hosted('one'), upload(chunks('old')))
    effects.clock.advance(86_400_001)
    const young = await artifacts.create(hosted('one'), upload(chunks('young')))
    expect([await artifacts.sweep(), store.artifacts.ids(), readdirSync(`${directory}/one`)]).toEqual([1, [young.id], [young.id]])
  })
})

describe('sweeping', () => {
  it('removes leftovers and bytes without a record, and nothing else', async () => {
    const { artifacts, directory } = setup()
    const kept = await artifacts.create(TRUSTED_CALLER, upload(chunks('x')))
    writeFileSync(`${directory}/local/art_orphan`, '')
    writeFileSync(`${directory}/local/art_half.partial`, '')
    mkdirSync(`${directory}/other`)
    writeFileSync(`${directory}/other/art_orphan`, '')
    expect(await artifacts.sweep()).toBe(3)
    expect([readdirSync(`${directory}/local`), readdirSync(`${directory}/other`)]).toEqual([[kept.id], []])
  })

  it('leaves an upload alone that is under way', async () => {
    const { artifacts, directory } = setup()
    const bytes = async function* () {
      yield Buffer.from('first')
      expect(await artifacts.sweep()).toBe(0)
      yield Buffer.from('second')
    }
    const { id } = await artifacts.create(TRUSTED_CALLER, upload(bytes()))
    expect(readFileSync(`${directory}/local/${id}`, 'utf8')).toBe('firstsecond')
  })

  it('needs no directory', async () => {
    const { artifacts, directory } = setup()
    expect([await artifacts.sweep(), existsSync(directory)]).toEqual([0, false])
  })
})

describe('quotas of a tenant', () => {
  const DAY = 86_400_000

  it('bound how many it has and their bytes, whatever arrives at once; more than the rest is not written to the disk', async () => {
    const { artifacts, directory } = setup()
    const acme = { ...hosted('acme'), quotas: { maxArtifacts: 3, maxArtifactBytes: 10 } }
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => artifacts.create(acme, upload(chunks('ab')))))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    await artifacts.delete(acme, artifacts.list(acme, undefined)[0]?.id ?? '')
    expect(await codeOf(() => artifacts.create(acme, upload(chunks('1234', '567'))))).toBe('quota.exceeded')
    await artifacts.create(acme, upload(chunks('123', '456')))
    expect(await codeOf(() => artifacts.create(acme, upload(chunks())))).toBe('quota.exceeded')
    expect(readdirSync(`${directory}/acme`)).toHaveLength(3)
    await artifacts.create(hosted('other'), upload(chunks('of another tenant')))
  })

  it('say how long they are kept: older ones are not there, and deleted when somebody looks', async () => {
    const { artifacts, directory, effects, store } = setup()
    const acme = { ...hosted('acme'), quotas: { artifactRetentionDays: 2, maxArtifacts: 1 } }
    const old = await artifacts.create(acme, upload(chunks('old')))
    const others = await artifacts.create(hosted('other'), upload(chunks('kept')))
    effects.clock.stepWall(2 * DAY - 1)
    expect(artifacts.get(acme, old.id)).toEqual(old)
    expect(artifacts.list(hosted('acme'), undefined)).toEqual([old])
    effects.clock.stepWall(1)
    expect(await codeOf(() => artifacts.content(acme, old.id))).toBe('resource.not_found')
    expect(store.artifacts.ids()).toEqual([others.id])
    await artifacts.create(acme, upload(chunks('new')))
    expect(artifacts.list(acme, undefined)).toHaveLength(1)
    expect(readdirSync(`${directory}/acme`)).toHaveLength(1)
  })

  it('hold for artifacts that come together: all of them, or none', async () => {
    const { artifacts, store } = setup()
    const incoming = artifacts.incoming({ ...hosted('acme'), quotas: { maxArtifacts: 1 } })
    const told = {
      filename: 'a',
      mediaType: 'text/plain',
      size: 0,
      sha256: createHash('sha256').digest('hex'),
      created: 1,
      downloadUrl: '',
    }
    for (const id of ['one', 'two']) await incoming.begin({ ...told, id }, 'ses_1')
    await incoming.complete()
    expect(await codeOf(() => store.transact('process', () => incoming.insert()))).toBe('quota.exceeded')
    await incoming.discard()
    expect(store.artifacts.ids()).toEqual([])
  })
})

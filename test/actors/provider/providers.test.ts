// Holds http-contract §2.4; sessions-events §4.8; subsystems c.1, c.4; choice 33.
import { describe, expect, it } from 'vitest'
import { DIRECTORY, LOCAL, REQUEST, setUp } from './setup.js'

describe('the list of providers', () => {
  it('holds the offline provider alone when nothing is configured', async () => {
    const { providers } = setUp({})
    const { all, default: defaults, connected } = await providers.list(DIRECTORY)
    expect(all.map(({ id, source }) => [id, source])).toEqual([['svc', 'builtin']])
    expect({ defaults, connected }).toEqual({ defaults: { svc: 'offline' }, connected: ['svc'] })
    expect(await providers.defaultModel(DIRECTORY)).toEqual({ providerId: 'svc', id: 'offline' })
  })

  it('is made some thousand models at a time, and others have their turn in between', async () => {
    const turnsOf = async (models: number) => {
      const names = Array.from({ length: models }, (_, at) => [`m${at}`, {}])
      const many = { ...LOCAL, models: Object.fromEntries(names) as Record<string, object> }
      const { providers } = setUp({ provider: { a: many, b: many, c: many } })
      let turns = 0
      let isOver = false
      const next = (): void => {
        turns++
        if (!isOver) setImmediate(next)
      }
      setImmediate(next)
      await providers.list(DIRECTORY)
      isOver = true
      return turns
    }
    const few = await turnsOf(1)
    expect((await turnsOf(1000)) - few).toBe(3)
  })

  it('gives complete records with every default filled in', async () => {
    const { providers } = setUp({ provider: { local: LOCAL } })
    const { all } = await providers.list(DIRECTORY)
    const none = { text: false, audio: false, image: false, video: false, pdf: false }
    expect(all[0]).toEqual({
      id: 'local',
      name: 'local',
      source: 'config',
      env: [],
      options: { baseURL: 'http://127.0.0.1:1/v1' },
      models: {
        small: {
          id: 'small',
          providerId: 'local',
          name: 'Small',
          api: {
            id: 'small',
            url: 'http://127.0.0.1:1/v1',
            npm: '@ai-sdk/openai-compatible',
            auth: 'none',
            toolCall: true,
            streamUsage: true,
            reasoningEffort: false,
          },
          releaseDate: '',
          status: 'active',
          capabilities: {
            attachment: false,
            reasoning: false,
            temperature: true,
            toolCall: true,
            input: { ...none, text: true },
            output: { ...none, text: true },
            interleaved: false,
          },
          cost: { input: 0, output: 0, cache: { read: 0, write: 0 } },
          limit: { context: 0, output: 0 },
          options: {},
          headers: {},
        },
      },
    })
  })

  it('shows no secret, wherever it is configured', async () => {
    const { providers } = setUp({
      provider: {
        local: {
          options: {
            baseURL: 'http://user:sk-a@127.0.0.1:1/v1?key=sk-b',
            apiKey: 'sk-c',
            headers: { 'x-team': 'sk-d' },
            nested: { accessToken: 'sk-e', maxTokens: 5 },
          },
          models: { m: { headers: { 'X-Api-Key': 'sk-f', 'x-plain': 'yes' }, options: { secret: 'sk-g' } } },
        },
      },
    })
    const listed = await providers.list(DIRECTORY)
    expect(JSON.stringify([listed, await providers.configured(DIRECTORY)])).not.toContain('sk-')
    expect(listed.all[0]?.options).toEqual({ baseURL: 'http://127.0.0.1:1/v1', nested: { maxTokens: 5 } })
    expect(listed.all[0]?.models.m?.headers).toEqual({})
  })

  it('applies the allowlist, then the denylist', async () => {
    const document = { enabledProviders: ['a', 'b'], disabledProviders: ['b'], provider: { a: LOCAL, b: LOCAL, c: LOCAL } }
    const { providers } = setUp(document)
    expect((await providers.list(DIRECTORY)).all.map(({ id }) => id)).toEqual(['a'])
    await expect(providers.resolve(DIRECTORY, { providerId: 'b', id: 'small' })).rejects.toMatchObject({
      code: 'request.invalid',
      message: 'Provider "b" is switched off by enabledProviders or disabledProviders.',
    })
  })

  it('calls connected what needs no key or has one, and offers only what can be used', async () => {
    const document = {
      provider: {
        keyless: LOCAL,
        keyed: { ...LOCAL, env: ['UNSET_KEY', 'LOCAL_KEY'] },
        keyMissing: { ...LOCAL, env: ['UNSET_KEY'] },
        optional: { ...LOCAL, auth: 'optional', env: ['UNSET_KEY'] },
        foreign: { ...LOCAL, npm: 'somebody-elses-adapter' },
        homeless: { env: ['LOCAL_KEY'], models: { m: {} } },
        vendor: { npm: '@ai-sdk/groq', env: ['LOCAL_KEY'], models: { m: {} } },
        broken: 7,
      },
    }
    const { providers } = setUp(document, { env: { LOCAL_KEY: 'k', EMPTY: '' } })
    const { all, connected } = await providers.list(DIRECTORY)
    expect(all.map(({ id }) => id)).toEqual(['keyless', 'keyed', 'keyMissing', 'optional', 'foreign', 'homeless', 'vendor', 'svc'])
    expect(connected).toEqual(['keyless', 'keyed', 'optional', 'homeless', 'vendor', 'svc'])
    const usable = await providers.configured(DIRECTORY)
    expect(usable.providers.map(({ id }) => id)).toEqual(['keyless', 'keyed', 'optional', 'vendor', 'svc'])
  })

  it('offers neither alpha nor deprecated models, but lists them', async () => {
    const models = { a: { status: 'alpha' }, b: { status: 'beta' }, d: { status: 'deprecated' }, x: { limit: 'broken' } }
    const { providers } = setUp({ provider: { local: { ...LOCAL, models } } })
    expect(Object.keys((await providers.list(DIRECTORY)).all[0]?.models ?? {})).toEqual(['a', 'b', 'd'])
    expect(Object.keys((await providers.configured(DIRECTORY)).providers[0]?.models ?? {})).toEqual(['b'])
  })
})

describe('the default model', () => {
  it.each([
    [{ SVC_AGENT_MODEL: 'b/2' }, 'b/2', 0],
    [{ SVC_AGENT_PROVIDER: 'b', SVC_AGENT_MODEL: '2' }, 'b/2', 0],
    [{ SVC_AGENT_PROVIDER: 'b', SVC_AGENT_MODEL: 'b/2' }, 'b/2', 0],
    [{ SVC_AGENT_PROVIDER: 'b' }, 'b/3', 0],
    [{ SVC_AGENT_MODEL: 'b/none' }, 'a/1', 1],
    [{ SVC_AGENT_MODEL: '2' }, 'a/1', 1],
    [{ SVC_AGENT_PROVIDER: 'none', SVC_AGENT_MODEL: '2' }, 'a/1', 1],
    [{}, 'a/1', 0],
  ])('of a process with %j is %s where no configuration names one', async (env, expected, warnings) => {
    const provider = {
      a: { options: { baseURL: 'http://a/v1' }, models: { 1: {} } },
      b: { options: { baseURL: 'http://b/v1' }, models: { 2: {}, 3: {} } },
    }
    const { providers, effects, reload } = setUp({ provider }, { env })
    const chosen = async () => (({ providerId, id }) => `${providerId}/${id}`)(await providers.defaultModel(DIRECTORY))
    expect([await chosen(), await chosen()]).toEqual([expected, expected])
    expect(effects.logs.filter(({ message }) => message.includes('of the environment'))).toHaveLength(warnings)
    reload({ provider, model: 'a/1' })
    expect(await chosen()).toBe('a/1')
  })

  const provider = { keyed: { ...LOCAL, env: ['UNSET'] }, local: { ...LOCAL, models: { a: {}, c: {}, b: {} } } }

  it('is the configured one with its variant when it can be used', async () => {
    const { providers } = setUp({ model: 'local/b', variant: 'high', provider })
    expect(await providers.defaultModel(DIRECTORY)).toEqual({ providerId: 'local', id: 'b', variant: 'high' })
  })

  it.each(['keyed/small', 'local/unknown', 'nowhere/a', 'nonsense', undefined])(
    'is that of the first usable provider when "%s" cannot',
    async (model) => {
      const { providers } = setUp({ ...(model === undefined ? {} : { model }), provider })
      expect(await providers.defaultModel(DIRECTORY)).toEqual({ providerId: 'local', id: 'c' })
    },
  )

  it('of a provider is the best-known one, then the highest id', async () => {
    const models = { 'z-model': {}, 'gpt-5-mini': {}, 'gpt-5': {}, 'claude-sonnet-4-5': {}, 'gpt-5-old': { status: 'deprecated' } }
    const { providers } = setUp({ provider: { local: { ...LOCAL, models } } })
    expect((await providers.list(DIRECTORY)).default.local).toBe('gpt-5-mini')
  })
})

describe('a resolved model', () => {
  it('is asked for under the id of the endpoint and keeps its own towards clients', async () => {
    const { providers, requests } = setUp({
      provider: { local: { ...LOCAL, models: { small: { id: 'vendor/small-v2', headers: { 'x-a': '1' } } } } },
    })
    const resolved = await providers.resolve(DIRECTORY, { providerId: 'local', id: 'small' })
    expect(resolved.model).toMatchObject({ id: 'small', api: { id: 'vendor/small-v2' } })
    await resolved.adapter.generate(REQUEST, () => {}, new AbortController().signal)
    expect(requests).toEqual([{ ...REQUEST, model: { providerId: 'local', id: 'vendor/small-v2' }, headers: { 'x-a': '1' } }])
  })

  it('carries the options of provider, model and variant, in that order', async () => {
    const models = { small: { options: { b: 2, c: 2 }, variants: { hot: { c: 3 } } } }
    const options = { ...LOCAL.options, apiKey: 'k', headers: { x: 'y' }, a: 1, b: 1 }
    const { providers } = setUp({ provider: { local: { options, models } } })
    const resolve = async (variant: string) => (await providers.resolve(DIRECTORY, { providerId: 'local', id: 'small', variant })).options
    expect(await resolve('hot')).toEqual({ a: 1, b: 2, c: 3 })
    expect(await resolve('unknown')).toEqual({ a: 1, b: 2, c: 2 })
  })

  it('is told how much to write where its API can be told, below all other options', async () => {
    const told = async (provider: object, textVerbosity: unknown = 'low') => {
      const { providers } = setUp({ textVerbosity, provider: { local: { ...LOCAL, ...provider } } })
      return (await providers.resolve(DIRECTORY, { providerId: 'local', id: 'small' })).options
    }
    expect(await told({ npm: '@ai-sdk/openai' })).toEqual({ textVerbosity: 'low' })
    expect(await told({ npm: '@ai-sdk/openai', options: { ...LOCAL.options, textVerbosity: 'high' } })).toEqual({ textVerbosity: 'high' })
    expect(await told({ npm: '@ai-sdk/openai' }, 'loud')).toEqual({})
    expect(await told({})).toEqual({})
  })

  it('reads its key when it is used, from the first variable that is set', async () => {
    const env: Record<string, string> = { SECOND: 'two' }
    const { providers, made } = setUp({ provider: { local: { ...LOCAL, env: ['FIRST', 'SECOND'] } } }, { env })
    await providers.resolve(DIRECTORY, { providerId: 'local', id: 'small' })
    expect(made[0]?.apiKey()).toBe('two')
    env.FIRST = 'one'
    expect(made[0]?.apiKey()).toBe('one')
  })

  it('never has a key when authentication is "none"', async () => {
    const { providers, made } = setUp({ provider: { local: { ...LOCAL, auth: 'none', env: ['KEY'] } } }, { env: { KEY: 'k' } })
    await providers.resolve(DIRECTORY, { providerId: 'local', id: 'small' })
    expect(made[0]?.apiKey()).toBeUndefined()
  })

  it('shares one adapter until the configuration of its provider changes', async () => {
    const { providers, made, reload } = setUp({ provider: { local: LOCAL } })
    const resolve = () => providers.resolve(DIRECTORY, { providerId: 'local', id: 'small' })
    await resolve()
    reload({ provider: { local: LOCAL }, model: 'local/small' })
    await resolve()
    expect(made).toHaveLength(1)
    reload({ provider: { local: { ...LOCAL, options: { baseURL: 'http://127.0.0.1:2/v1' } } } })
    await resolve()
    expect(made.map(({ baseURL }) => baseURL)).toEqual(['http://127.0.0.1:1/v1', 'http://127.0.0.1:2/v1'])
  })

  it('of the offline provider has the options that are configured for it', async () => {
    const { providers, made } = setUp({ provider: { svc: { options: { script: '/s.json' } } } })
    const { options } = await providers.resolve(DIRECTORY, { providerId: 'svc', id: 'offline' })
    expect({ options, settings: made[0]?.options }).toEqual({ options: {}, settings: { script: '/s.json' } })
  })

  it.each([
    [{ providerId: 'nowhere', id: 'm' }, 'There is no provider "nowhere". Known: local, svc, keyed, foreign.'],
    [{ providerId: 'local', id: 'm' }, 'Provider "local" has no model "m". Known: small.'],
    [{ providerId: 'keyed', id: 'small' }, 'Provider "keyed" needs a key: store one, or start the server with A or B set.'],
    [
      { providerId: 'foreign', id: 'small' },
      expect.stringMatching(
        /^Provider "foreign" needs the adapter "x", which this server does not have. It has .*@ai-sdk\/openai-compatible,/,
      ),
    ],
  ])('is refused with what is known instead: %j', async (ref, message) => {
    const { providers } = setUp({ provider: { local: LOCAL, keyed: { ...LOCAL, env: ['A', 'B'] }, foreign: { ...LOCAL, npm: 'x' } } })
    await expect(providers.resolve(DIRECTORY, ref)).rejects.toMatchObject({ code: 'request.invalid', message })
  })

  it('gets nothing it cannot take', async () => {
    const models = { small: { temperature: false, toolCall: false, interleaved: { field: 'reasoning_content' } } }
    const { providers, requests } = setUp({ provider: { local: { ...LOCAL, models } } })
    const { adapter } = await providers.resolve(DIRECTORY, { providerId: 'local', id: 'small' })
    const image = { mime: 'image/png', url: 'data:image/png;base64,AA', filename: 'a.png' }
    await adapter.generate(
      {
        ...REQUEST,
        temperature: 1,
        tools: [{ id: 'read', description: '', parameters: {} }],
        messages: [
          { role: 'user', content: [{ type: 'file', file: image }] },
          { role: 'tool', results: [{ callId: 'a', tool: 'read', output: 'Image.', isError: false, attachments: [image] }] },
        ],
      },
      () => {},
      new AbortController().signal,
    )
    const note = '[a.png (image/png) was not sent: the model does not take it]'
    expect(requests[0]).toEqual({
      ...REQUEST,
      headers: {},
      reasoningField: 'reasoning_content',
      messages: [
        { role: 'user', content: [{ type: 'text', text: note }] },
        { role: 'tool', results: [{ callId: 'a', tool: 'read', output: `Image.\n${note}`, isError: false }] },
      ],
    })
  })
})

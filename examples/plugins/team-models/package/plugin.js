/**
 * The models of a team, behind a gateway at which everybody signs in with a code of their own (RFC 8628): `svc` shows the address and the
 * code, waits, keeps the token, and hands it back with each request. The gateway speaks as OpenAI does: `POST /v1/chat/completions`.
 */
import { signIn } from './sign-in.js'
import { definePlugin } from './svc-plugin.js'
import { eventsOf, messageFor, toolFor } from './translate.js'

let url = ''

async function* stream({ modelId, messages, tools = [], headers = {} }, { signal }) {
  const { authorization } = headers
  if (authorization === undefined) throw new Error('sign in at the provider "team" first')
  const body = {
    model: modelId,
    messages: messages.map(messageFor),
    ...(tools.length > 0 && { tools: tools.map(toolFor) }),
    stream: true,
    stream_options: { include_usage: true },
  }
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  })
  if (response.status === 401) throw new Error('the gateway does not know you any more: sign in at the provider "team" again')
  if (!response.ok) throw new Error(`the gateway answered ${response.status}: ${(await response.text()).slice(0, 500)}`)
  yield* eventsOf(response.body)
}

export const plugin = definePlugin({
  name: 'Team models',
  version: '1.0.0',
  initialize({ config }) {
    const configured = config?.url
    if (typeof configured !== 'string' || !/^https?:/.test(configured)) throw new Error('config.url is not the address of a gateway')
    url = configured.replace(/\/+$/, '')
  },
  services: {
    providers: [
      {
        descriptor: { id: 'team', name: 'Team models', models: ['small', 'large'] },
        metadata: ({ modelId }) => ({ limit: { context: modelId === 'large' ? 200_000 : 32_000, output: 8_000 } }),
        stream,
        ...signIn(() => url),
      },
    ],
  },
})

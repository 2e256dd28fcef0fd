/** Native plugin `dev.svc.openai-compatible`: models behind the chat completions protocol. */
import type { NativePlugin } from '../../../actors/plugin/native/native.js'
import { LIMITS } from '../../../protocol/limits.js'
import { createPause } from '../../../protocol/pause.js'
import { createChatAdapter, type Timeouts } from './adapter.js'
import { VENDORS, vendorEndpoints } from './vendors.js'

export interface OpenAICompatibleOptions {
  /** Overrides of the time limits of a step, ms. */
  readonly timeouts?: Partial<Timeouts>
}

/** The plugin; it starts nothing and connects to nothing before the first step. */
export function createOpenAICompatiblePlugin(options: OpenAICompatibleOptions = {}): NativePlugin {
  const pause = createPause()
  const timeouts = { firstByte: LIMITS.provider.firstByte, idle: LIMITS.provider.idle, ...options.timeouts }
  return {
    id: 'dev.svc.openai-compatible',
    name: 'OpenAI-compatible providers',
    capability: { id: 'svc.providers.openai-compatible', apiPrefix: '/v2/providers' },
    requires: ['svc.providers', 'svc.config'],
    start: ({ effects }) => ({
      providers: [
        {
          npm: Object.keys(VENDORS),
          endpoints: vendorEndpoints(),
          create: (settings) => createChatAdapter(settings, { effects, timeouts, pause }),
        },
      ],
    }),
  }
}

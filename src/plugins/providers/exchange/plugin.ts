/** The native plugin of one protocol; it starts nothing and connects to nothing before the first step. */
import type { NativePlugin, ProviderContribution } from '../../../ports/plugin.js'
import { LIMITS } from '../../../protocol/limits.js'
import { createPause } from '../../../kernel/pause.js'
import { createAdapter, type Timeouts } from './adapter.js'
import type { Call, Protocol } from './protocol.js'

export interface ModelPluginOptions {
  /** Overrides of the time limits of a step, ms. */
  readonly timeouts?: Partial<Timeouts>
}

export interface ModelPlugin<Asked extends Call> extends Pick<ProviderContribution, 'npm' | 'endpoints'> {
  /** Last word of the plugin's id and of its capability. */
  readonly word: string
  readonly name: string
  readonly protocol: Protocol<Asked>
}

export function createModelPlugin<Asked extends Call>(
  { word, name, protocol, ...contribution }: ModelPlugin<Asked>,
  options: ModelPluginOptions = {},
): NativePlugin {
  const pause = createPause()
  const timeouts = { firstByte: LIMITS.provider.firstByte, idle: LIMITS.provider.idle, ...options.timeouts }
  return {
    id: `dev.svc.${word}`,
    name,
    capability: { id: `svc.providers.${word}`, apiPrefix: '/v2/providers' },
    requires: ['svc.providers', 'svc.config'],
    start: ({ effects }) => ({
      providers: [
        { ...contribution, takesTokens: true, create: (settings) => createAdapter(protocol, settings, { effects, timeouts, pause }) },
      ],
    }),
  }
}

/**
 * Whether, how and with which models agents work for hosted callers (subsystems d.9; decision 42). Only the installation says it, under
 * `hosted` of its configuration.
 *
 * I1 Without a word of the installation they work where commands run in the sandbox (`permission.sandbox`) and it can be had, else not at all.
 * I2 Where the sandbox of plugins is not required they do not work either: a plugin could be asked by their prompts.
 * I3 A model is theirs when the installation names its provider for them; what the operator has connected is never used in silence.
 */
import type { Configs } from '../../ports/facades.js'
import type { Effects } from '../../ports/effects.js'
import { SvcError } from '../../protocol/errors.js'
import { HostedConfig } from '../../protocol/resource/agent-config.js'
import type { Hosting } from '../tenancy/hosted-session.js'
import { recordAt } from '../resource/config/config-merge.js'
import { sandboxOf } from '../resource/config/permission-config.js'

interface HostingDeps {
  readonly effects: Pick<Effects, 'paths'>
  readonly configs: Pick<Configs, 'load'>
  readonly whyNoSandbox: () => Promise<string | undefined>
  /** Whether plugins run in a sandbox or not at all. */
  readonly arePluginsContained: () => boolean
}

export function createHosting({ effects, configs, whyNoSandbox, arePluginsContained }: HostingDeps): Hosting {
  const installation = () => configs.load(effects.paths.config)

  return {
    async policy() {
      try {
        const document = await installation()
        if (!arePluginsContained()) return 'disabled' // I2
        const { execution } = hostedOf(document)
        if (execution === 'native') return 'native'
        if (execution !== undefined && execution !== 'sandbox') return 'disabled'
        return sandboxOf(document) === 'on' && (await whyNoSandbox()) === undefined ? 'sandbox' : 'disabled' // I1
      } catch {
        return 'disabled'
      }
    },
    async checkModel(session, providerId) {
      if (session?.executionPolicy === undefined) return
      const { providers = [] } = hostedOf(await installation())
      if (providers.includes(providerId)) return
      throw new SvcError(
        'request.unprocessable',
        `The provider "${providerId}" is not for hosted callers of this server; its installation names those that are (hosted.providers).`,
        { providerId },
      )
    },
  }
}

/** A value that is none counts as absent, which is the careful one. */
function hostedOf(document: unknown): HostedConfig {
  return HostedConfig.safeParse(recordAt(document, 'hosted')).data ?? {}
}

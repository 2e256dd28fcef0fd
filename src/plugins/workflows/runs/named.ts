/** Who and what a workflow names that is not there: it stays as it is, and its runs fail until that is there (choice 44). */
import type { NativeHost } from '../../../ports/plugin.js'
import type { WorkflowDiagnostic } from '../../../protocol/workflow/workflow.js'
import { runDirectory } from './prepare.js'
import type { Found } from '../files/catalog.js'
import { baseOf } from './fitness.js'

type NamedHost = Pick<NativeHost, 'effects' | 'hasAgent' | 'skills'>

/** Warnings about one file; none where the directory of its runs cannot be used, which is told apart. Never rejects. */
export async function missingNames(host: NamedHost, found: Found): Promise<readonly WorkflowDiagnostic[]> {
  const { agent, skill } = found.definition
  if (agent === undefined && skill === undefined) return []
  try {
    const directory = await runDirectory(host, found.definition, baseOf(found, host.effects.paths.home))
    const isAgent = agent === undefined || (await host.hasAgent(directory, agent))
    const isSkill = skill === undefined || (await host.skills(directory)).some(({ name }) => name === skill)
    const missing = [...(isAgent ? [] : [['agent', agent]]), ...(isSkill ? [] : [['skill', skill]])]
    return missing.map(([what, name]) => ({
      sourcePath: found.sourcePath,
      code: `${what}-missing`,
      message: `names the ${what} "${name}", which is not there in ${directory}: its runs fail until it is`,
    }))
  } catch {
    return []
  }
}

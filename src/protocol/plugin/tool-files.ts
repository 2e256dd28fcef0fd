/** Directories of tools: `tools/` of the configuration and `.svc/tools/` of a workspace (decision 076). */
export const TOOLS_DIRECTORY = 'tools'

const SCRIPT = /^[A-Za-z][A-Za-z0-9_-]*\.[cm]?[jt]s$/

/** Whether a file right in a directory of tools holds tools; what its name begins with is the name of the first. */
export function isToolFile(name: string): boolean {
  return SCRIPT.test(name)
}

export type ToolsId = 'user.tools' | 'workspace.tools'

/** Ids that no package may have. */
export function isToolsId(id: string): id is ToolsId {
  return id === 'user.tools' || id === 'workspace.tools'
}

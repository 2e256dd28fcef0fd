/**
 * Files that no layer of a workspace brings to a model, links included: the `read` tool asks before it opens them
 * (threat-model W4).
 */

const ENVIRONMENT = /(?:^|\/)(?:[^/]*\.env|[^/]*\.env\.(?!(?:example|sample|template)$)[^/]*|\.envrc)$/i
const CREDENTIALS =
  /(?:^|\/)(?:\.git|\.ssh|\.gnupg|\.aws|\.azure|\.kube|\.docker|\.netrc|\.npmrc|\.yarnrc|\.pypirc|\.git-credentials|id_(?:rsa|dsa|ecdsa|ed25519))(?:\/|$)/i

/** Whether a path relative to a worktree names one. */
export function isPrivate(path: string): boolean {
  return ENVIRONMENT.test(path) || CREDENTIALS.test(path)
}

/** What the thread of the script starts with: the VM, from what the build has compiled where it can. */
import { loadCompiled } from '../../platform/node/compiled.js'

loadCompiled(__filename, 'lua-sandbox-vm.cjs')

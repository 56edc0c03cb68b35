export { checkHost, type HostUnderCheck } from './check-host.ts'
export { createExampleProject, type ExampleProject } from './example-project.ts'
export { type HostProcess, runProgram, startHostProcess } from './host-process.ts'
export { type ShopServer, startShopServer } from './shop-server.ts'

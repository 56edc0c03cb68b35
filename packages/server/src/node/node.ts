export { type NodeHandler, toNodeHandler } from './http.ts'
export { createShutdown } from './shutdown.ts'
export { attachWebSocket, type Detach } from './websocket.ts'

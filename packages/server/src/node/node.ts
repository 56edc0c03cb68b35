export { type NodeHandler, toNodeHandler } from './http.ts'
export { attachWebSocket, type Detach } from './websocket.ts'

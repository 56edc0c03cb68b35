import {
  type ClientStatus,
  createFlagClient,
  type FlagClient,
  type FlagClientOptions,
  type FlagSnapshot,
} from '@ff/client'
import type { EvaluationContext } from '@ff/core'
import type { FlagTypes } from '@ff/core/flag-types'
import { contextTextOf } from '@ff/protocol/snapshot'
import {
  type InjectionKey,
  inject,
  type MaybeRefOrGetter,
  onMounted,
  onScopeDispose,
  provide,
  type ShallowRef,
  shallowReadonly,
  shallowRef,
  toRaw,
  toValue,
  watch,
} from 'vue'

/** The client whose values `provideFlags` gives to a component and its children. */
export interface ProvidedFlags<Values> {
  /** A client of the application. It is neither connected nor closed. */
  readonly client?: FlagClient<Values>
  /** The options of a client, which is connected when the component is mounted, and closed with it. */
  readonly options?: Omit<FlagClientOptions<Values>, 'flags' | 'context' | 'bootstrap' | 'connect'>
  /** The context of the values. A change of it calls `setContext` of the client. */
  readonly context?: MaybeRefOrGetter<EvaluationContext | undefined>
  /** The values with which a server has rendered the page. The first render reads nothing else. */
  readonly snapshot?: FlagSnapshot | undefined
}

/** The options of `useFlag`. */
export interface ReadOptions<Value> {
  /** Takes precedence over the fallback of the flag's type. */
  readonly fallback?: Value
}

/** A value that follows the client until its scope ends, and cannot be set. */
type ReadonlyValue<Value> = Readonly<ShallowRef<Value>>

/** The composables for the flags of a program. Created by `createFlags`. */
export interface FlagComposables<Values> {
  /** Gives a client to the children of a component. Call it in the setup of the component. */
  provideFlags(provided: ProvidedFlags<Values>): FlagClient<Values>
  /** Returns the value of a flag. */
  useFlag<Key extends keyof Values & string>(
    key: Key,
    options?: ReadOptions<Values[Key]>,
  ): ReadonlyValue<Values[Key]>
  /** Returns the `status` of the client. */
  useFlagStatus(): ReadonlyValue<ClientStatus>
  /** Returns the client. */
  useFlagClient(): FlagClient<Values>
}

interface Provided<Values> {
  readonly client: FlagClient<Values>
  /** The client that is read until the page is mounted. It never connects. */
  readonly first: FlagClient<Values>
  isMounted: boolean
}

/** The console, which some platforms do not have. */
const { console } = globalThis as { console?: { warn(message: string): void } }

const OUTSIDE =
  'A composable of @ff/vue is used outside of `provideFlags`, so that flags have their fallbacks.'

/** Creates composables with the types of the flags. */
export function createFlags<Values>(
  flags: Pick<FlagTypes<Values>, 'types'>,
): FlagComposables<Values> {
  const name: InjectionKey<Provided<Values>> = Symbol('flags')
  const idle = (options: Partial<FlagClientOptions<Values>> = {}) =>
    createFlagClient({ url: 'http://idle', sdkKey: 'idle', ...options, flags, connect: false })
  let outside: Provided<Values> | undefined
  const useProvided = () => inject(name, () => (outside ??= provideOutside(idle())), true)
  return {
    provideFlags: (provided) => provideClient(name, provided, idle),
    useFlag: (key, { fallback } = {}) =>
      useFollowed(
        useProvided(),
        (client) => client.value(key, fallback),
        (client, listener) => client.subscribe(key, listener),
      ),
    useFlagStatus: () =>
      useFollowed(
        useProvided(),
        (client) => client.status,
        (client, listener) => client.watch(listener),
      ),
    useFlagClient: () => useProvided().client,
  }
}

function provideOutside<Values>(client: FlagClient<Values>): Provided<Values> {
  console?.warn(OUTSIDE)
  return { client, first: client, isMounted: true }
}

function provideClient<Values>(
  name: InjectionKey<Provided<Values>>,
  { client, options, context, snapshot }: ProvidedFlags<Values>,
  idle: (options?: Partial<FlagClientOptions<Values>>) => FlagClient<Values>,
): FlagClient<Values> {
  const wanted = () => toValue(context) ?? (client ? undefined : {})
  const own = (parts: Partial<FlagClientOptions<Values>> = {}) => {
    const [first, bootstrap] = [wanted(), snapshot]
    return idle({ ...parts, ...(first && { context: first }), ...(bootstrap && { bootstrap }) })
  }
  const used = client ?? own(options)
  const first = client && !snapshot ? client : own()
  const provided: Provided<Values> = { client: used, first, isMounted: false }
  const setContext = () => {
    const next = wanted()
    if (next !== undefined) void used.setContext(toRaw(next))
  }
  provide(name, provided)
  // Equal contexts have equal texts, so that another object with the same properties changes nothing.
  watch(() => contextTextOf(wanted()), setContext)
  onMounted(() => {
    provided.isMounted = true
    if (client) setContext()
    else used.connect()
  })
  onScopeDispose(() => {
    if (!client) used.close()
  })
  return used
}

/** Returns a part of the client that follows it until the scope ends. */
function useFollowed<Values, Part>(
  { client, first, isMounted }: Provided<Values>,
  read: (client: FlagClient<Values>) => Part,
  subscribe: (client: FlagClient<Values>, listener: () => void) => () => void,
): ReadonlyValue<Part> {
  const part = shallowRef(read(isMounted ? client : first))
  let isOver = false
  let stop: (() => void) | undefined
  const update = () => {
    if (!isOver) part.value = read(client)
  }
  // On a server, no component is mounted, and no scope ends.
  onMounted(() => {
    update()
    stop = isOver ? undefined : subscribe(client, update)
  })
  onScopeDispose(() => {
    isOver = true
    stop?.()
  })
  return shallowReadonly(part)
}

import type { Environment } from '@ff/protocol/management'
import { Button } from '../../components/button.tsx'
import { type Option, Select } from '../../components/select.tsx'
import { SuggestField } from '../../controls/suggest-field.tsx'
import { messages } from '../../messages/messages.ts'
import styles from './flags.module.css'
import { DEFAULT_SORT, type FlagsSearch, isFiltered, type SortName } from './flags-search.ts'

const flags = messages.flags
const ANY = 'any'

/** The properties of `FlagsFilters`. */
export interface FlagsFiltersProps {
  readonly search: FlagsSearch
  readonly onChange: (change: FlagsSearch) => void
  readonly environments: readonly Environment[]
  /** Tags of flags that are loaded. */
  readonly tags: readonly string[]
  /** Called when the tags of more flags are wanted. */
  readonly onTags: () => void
  /** Also shows the order, for a list without columns. */
  readonly hasSort: boolean
}

/** The filters of the list of flags. Each is a part of the address. */
export function FlagsFilters(props: FlagsFiltersProps) {
  const { search, onChange, environments, tags, onTags, hasSort } = props
  const places = environments.map(({ key, name }) => ({ id: key, name }))
  const archives = [{ id: 'true', name: flags.archives.only }]
  const clear = {
    ...{ search: undefined, tag: undefined, type: undefined, state: undefined },
    ...{ env: undefined, archived: undefined },
  }
  return (
    <>
      <Filter
        name={flags.type}
        options={optionsOf(flags.types)}
        value={search.type}
        onChange={(type) => onChange({ type: type as FlagsSearch['type'] })}
      />
      <Filter
        name={flags.state}
        options={optionsOf(flags.states)}
        value={search.state}
        onChange={(state) => onChange({ state: state as FlagsSearch['state'] })}
      />
      {search.state !== undefined && (
        <Filter
          name={flags.environment}
          options={places}
          value={search.env}
          onChange={(env) => onChange({ env })}
        />
      )}
      <SuggestField
        label={flags.tag}
        value={search.tag ?? ''}
        suggestions={tags}
        onFocus={onTags}
        onChange={(tag) => onChange({ tag: tag === '' ? undefined : tag })}
      />
      <Filter
        name={flags.archives.hidden}
        options={archives}
        value={search.archived ? 'true' : undefined}
        onChange={(value) => onChange({ archived: value === 'true' ? true : undefined })}
      />
      {hasSort && <SortFilter search={search} onChange={onChange} />}
      {isFiltered(search) && (
        <Button variant="ghost" onPress={() => onChange(clear)}>
          {flags.clearFilters}
        </Button>
      )}
    </>
  )
}

function SortFilter({ search, onChange }: Pick<FlagsFiltersProps, 'search' | 'onChange'>) {
  return (
    <div className={styles.filter}>
      <Select
        label={flags.sort}
        isLabelHidden
        options={optionsOf(flags.sorts)}
        value={search.sort ?? DEFAULT_SORT}
        onChange={(sort) => onChange({ sort: sort as SortName })}
      />
    </div>
  )
}

interface FilterProps {
  readonly name: string
  readonly options: readonly Option[]
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
}

/** A filter that shows its name until a value is chosen. */
function Filter({ name, options, value, onChange }: FilterProps) {
  return (
    <div className={styles.filter}>
      <Select
        label={name}
        isLabelHidden
        placeholder={name}
        options={value === undefined ? options : [{ id: ANY, name: flags.any }, ...options]}
        value={value ?? null}
        onChange={(id) => onChange(id === ANY ? undefined : id)}
      />
    </div>
  )
}

function optionsOf(names: Readonly<Record<string, string>>): readonly Option[] {
  return Object.entries(names).map(([id, name]) => ({ id, name }))
}

/** The numbers of all rows and columns of a table, of which only some are in the page. */
export interface TableSize {
  readonly label: string
  readonly rows: number
  readonly columns: number
}

/**
 * The roles of a table. Its rows are positioned by their index and only some of them exist, which
 * the elements of tables do not permit.
 */
export const tableRoles = {
  table: ({ label, rows, columns }: TableSize) => ({
    role: 'table',
    'aria-label': label,
    'aria-rowcount': rows,
    'aria-colcount': columns,
  }),
  group: { role: 'rowgroup' },
  /** `position` begins with 1. */
  row: (position: number) => ({ role: 'row', 'aria-rowindex': position }),
  columnHeader: (sort?: 'ascending' | 'descending' | 'none') => ({
    role: 'columnheader',
    ...(sort !== undefined && { 'aria-sort': sort }),
  }),
  rowHeader: { role: 'rowheader' },
  cell: { role: 'cell' },
} as const

import type { Database } from '../../../src/platform/postgres/database.js';
import type { TestDatabase } from '../postgres.js';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** The cost of a list: rows read by scans, the largest number of sorted rows, and the scanned relations. */
export interface ListCost {
  readonly read: number;
  readonly sorted: number;
  readonly scans: readonly string[];
}

/** A database that records its queries, which `cost` repeats to get their plans. */
export class ExplainedLists {
  readonly database: Database;
  private queries: { readonly sql: string; readonly params: readonly unknown[] }[] = [];

  constructor(private readonly db: TestDatabase) {
    const query: Database['query'] = (sql, params = []) => {
      this.queries.push({ sql, params });
      return db.database.query(sql, params);
    };
    this.database = Object.assign(Object.create(db.database) as Database, { query });
  }

  /** Returns the cost of all queries since the previous call. */
  async cost(): Promise<ListCost> {
    const costs = await Promise.all(
      this.queries.splice(0).map(async ({ sql, params }) => {
        const { rows } = await this.db.pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
          `explain (analyze, format json) ${sql}`,
          [...params],
        );
        return costOf(rows[0]!['QUERY PLAN'][0].Plan);
      }),
    );
    return {
      read: costs.reduce((sum, { read }) => sum + read, 0),
      sorted: Math.max(0, ...costs.map(({ sorted }) => sorted)),
      scans: [...new Set(costs.flatMap(({ scans }) => scans))],
    };
  }
}

function costOf(plan: PlanNode): ListCost {
  const nodes = [plan];
  for (const node of nodes) nodes.push(...(node.Plans ?? []));
  const rowsOf = (node: PlanNode): number =>
    (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
  // A bitmap index scan passes its rows to a heap scan, which counts them.
  const scans = nodes.filter(
    ({ 'Node Type': type }) =>
      / Scan$/.test(type) && !/^(Bitmap Index|Function|Subquery|CTE|Values)/.test(type),
  );
  const sorts = nodes.filter(({ 'Node Type': type }) => /Sort/.test(type));
  return {
    read: scans.reduce((sum, node) => sum + rowsOf(node), 0),
    sorted: Math.max(0, ...sorts.flatMap(({ Plans = [] }) => Plans.map(rowsOf))),
    scans: [
      ...new Set(
        nodes.flatMap((node) =>
          / Scan$/.test(node['Node Type']) && (node['Index Name'] ?? node['Relation Name'])
            ? [`${node['Node Type']}: ${node['Index Name'] ?? node['Relation Name']}`]
            : [],
        ),
      ),
    ],
  };
}

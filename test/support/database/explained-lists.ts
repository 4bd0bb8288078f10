import type { Type } from '@nestjs/common';
import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import type { Context } from '../../../src/platform/context.js';
import { ReadModels } from '../../../src/platform/read-models/read-models.js';
import type { TestDatabase } from '../postgres.js';
import { storeConfig } from '../../../src/platform/config/config.js';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** What a list cost: the rows that its scans read, the largest number of rows that it sorted, and what it scanned. */
export interface ListCost {
  readonly read: number;
  readonly sorted: number;
  readonly scans: readonly string[];
}

/** Read models whose last list can be explained: its plan, as it ran. */
export class ExplainedReadModels extends ReadModels {
  private explain: (() => Promise<ListCost>) | null = null;

  constructor(
    private readonly db: TestDatabase,
    entities: readonly Type[],
  ) {
    super({ ...storeConfig({}), databaseUrl: db.url }, [{ name: 'explained', entities } as Context]);
  }

  override async query<Entity extends ObjectLiteral>(
    entity: Type<Entity>,
    alias: string,
  ): Promise<SelectQueryBuilder<Entity>> {
    const query = await super.query(entity, alias);
    this.explain = async () => {
      const [sql, parameters] = query.getQueryAndParameters();
      const { rows } = await this.db.pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        `explain (analyze, format json) ${sql}`,
        parameters as unknown[],
      );
      return costOf(rows[0]!['QUERY PLAN'][0].Plan);
    };
    return query;
  }

  /** Of the query that was built last. */
  lastCost(): Promise<ListCost> {
    return this.explain!();
  }
}

function costOf(plan: PlanNode): ListCost {
  const nodes = [plan];
  for (const node of nodes) nodes.push(...(node.Plans ?? []));
  const rowsOf = (node: PlanNode): number =>
    (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
  // A bitmap index scan hands its rows to a heap scan, which counts them.
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

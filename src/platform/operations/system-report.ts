import { ApiProperty } from '../dto/field.js';
import { COUNT, TIME } from '../dto/rules.js';
import { methodDecorator } from '../discovered-methods.js';

/** Due work of one kind. */
export class BacklogState {
  @ApiProperty({ type: 'string', description: 'The kind of work.' }) name!: string;
  @ApiProperty({ ...COUNT, description: 'Counted up to 10,000.' }) due!: number;
  @ApiProperty({ ...TIME, nullable: true }) oldest_at!: string | null;
}

/** Declares a method that reports due work of all processes to `GET /admin/v1/system` (admin-api.md 3), with its name. */
export const ReportsBacklog = methodDecorator<string, () => Promise<BacklogState>>();

/** Declares a method that reports a member of `audit` to `GET /admin/v1/system`, or null. */
export const ReportsAudit = methodDecorator<'head' | 'last_verify', () => Promise<object | null>>();

/** Reads of backlogs count no further. */
export const MAX_DUE = 10_000;

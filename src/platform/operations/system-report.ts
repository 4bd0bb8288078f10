import { ApiProperty } from '../dto/field.js';
import { COUNT, nullable, TIME } from '../dto/rules.js';
import { methodDecorator } from '../discovered-methods.js';

export class BacklogState {
  @ApiProperty({ type: 'string', description: 'The kind of work.' }) name!: string;
  @ApiProperty({ ...COUNT, description: 'Counted up to 10,000.' }) due!: number;
  @ApiProperty(nullable(TIME)) oldest_at!: string | null;
}

/** Declares a method that reports the due work of one kind in all processes (admin-api.md 3). */
export const ReportsBacklog = methodDecorator<string, () => Promise<BacklogState>>();

/** Declares a method that reports a member of `audit` to `GET /admin/v1/system`. */
export const ReportsAudit = methodDecorator<'head' | 'last_verify', () => Promise<object | null>>();

export const MAX_DUE = 10_000;

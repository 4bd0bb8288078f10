import { ValidateBy } from 'class-validator';
import { parseInstant } from '../../../kernel/instant.js';

const IsInstant = (): PropertyDecorator =>
  ValidateBy({
    name: 'isInstant',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && parseInstant(value) !== null,
      defaultMessage: () => 'must be a date and time such as 2026-01-31T12:00:00Z',
    },
  });

/** Body of POST webhook_endpoints/{id}/recover. */
export class RecoverWebhookEndpointBody {
  @IsInstant()
  since!: string;
}

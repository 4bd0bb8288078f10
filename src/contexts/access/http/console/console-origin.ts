import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { PageOrigin } from '../page-origin.js';

@Injectable()
export class ConsoleOrigin extends PageOrigin {
  constructor(@Inject(CONFIG) { adminUrl }: Pick<Config, 'adminUrl'>) {
    super('ADMIN_URL', adminUrl);
  }
}

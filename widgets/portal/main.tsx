import { start } from '../kit/app.js';
import { Loading } from '../kit/states.js';

start(() => <Loading />);

import { createApp } from './app.ts'
import { parrot } from './model.ts'

createApp(parrot).listen(3000, '127.0.0.1', () => console.log('http://127.0.0.1:3000/chat'))
